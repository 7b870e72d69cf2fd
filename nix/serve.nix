# The production server; every value comes from its environment. The installed command cannot tell its own Node the flags
# that keep memory level, so what the command runs is run here.
{
  lib,
  writeShellApplication,
  nodejs_24,
  spirit-altar,
}:
let
  inherit (lib.importJSON ../package.json) name bin;
in
writeShellApplication {
  name = "spirit-altar-serve";
  text = ''
    secrets=()
    if [ -f "''${CREDENTIALS_DIRECTORY:-}/environment" ]; then
      secrets=("--env-file=$CREDENTIALS_DIRECTORY/environment")
    fi
    exec ${nodejs_24}/bin/node --max-semi-space-size=32 --heap-growing-percent=50 --expose-gc "''${secrets[@]}" \
      ${spirit-altar}/lib/node_modules/${name}/${bin.spirit-altar} serve "$@"
  '';
}
