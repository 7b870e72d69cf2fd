# What `npm run package` packs, with the dependencies that it runs on and the command `spirit-altar`.
{
  lib,
  callPackage,
  buildNpmPackage,
  importNpmLock,
  nodejs_24,
  rev ? null,
}:
let
  manifest = lib.importJSON ../package.json;
in
buildNpmPackage {
  pname = manifest.name;
  inherit (manifest) version;

  # A change of the README or of a test builds nothing anew.
  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions [
      ../.npmrc
      ../LICENSE
      ../migrations
      ../package-lock.json
      ../package.json
      ../schema
      ../src
      ../tsconfig.json
      ../tsconfig.pack.json
    ];
  };

  nodejs = nodejs_24;
  npmDeps = callPackage ./dependencies.nix { };
  inherit (importNpmLock) npmConfigHook;
  npmRebuildFlags = [ "--ignore-scripts" ];
  env = lib.optionalAttrs (rev != null) { SOURCE_COMMIT = rev; };
  npmBuildScript = "package";
  npmBuildFlags = [
    "--"
    "--no-archive"
  ];
  # Packed by the build script already.
  npmPackFlags = [ "--ignore-scripts" ];
  # Optional peers that only the tests use.
  npmPruneFlags = [ "--omit=optional" ];

  meta = {
    inherit (manifest) description;
    license = lib.licenses.mit;
    mainProgram = "spirit-altar";
    platforms = lib.platforms.linux ++ [ "aarch64-darwin" ];
  };
}
