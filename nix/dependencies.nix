# What package-lock.json says, and nothing else: every tarball comes from npm's own default registry and must have the
# hash that the lock holds. The lock names no address, so npm is asked for `name@version`.
{
  lib,
  stdenv,
  runCommand,
  nodejs_24,
  importNpmLock,
  # Lint and format, which a package does not need: 39 MB.
  hasCheckers ? false,
}:
let
  manifest = lib.importJSON ../package.json;
  lock = lib.importJSON ../package-lock.json;

  # Programs that nixpkgs has: npm's own are made for other distributions, or downloaded by an install script.
  withheld =
    name:
    name == "node"
    || name == "embedded-postgres"
    || lib.hasPrefix "@embedded-postgres/" name
    || lib.hasPrefix "@foundry-rs/" name
    || (!hasCheckers && isChecker name);
  isChecker =
    name:
    lib.elem name [
      "oxfmt"
      "oxlint"
    ]
    || lib.hasPrefix "@oxfmt/" name
    || lib.hasPrefix "@oxlint/" name;

  nameOf = path: lib.last (lib.splitString "node_modules/" path);

  platform = {
    os = if stdenv.hostPlatform.isDarwin then "darwin" else "linux";
    cpu = if stdenv.hostPlatform.isAarch64 then "arm64" else "x64";
    libc = "glibc";
  };
  fits =
    entry:
    lib.all (trait: lib.elem platform.${trait} (entry.${trait} or [ platform.${trait} ])) (
      lib.attrNames platform
    );

  # A part for one platform may have no hash, because the registry that the lock was written with does not hold it:
  # it is left out, and what needs it is not run there. Anything else without a hash is a fault.
  isTaken =
    path: entry:
    path == "" || (!withheld (nameOf path) && fits entry && (entry ? integrity || !(entry ? os)));

  taken = lib.filterAttrs isTaken lock.packages;
  names = lib.genAttrs (map nameOf (lib.attrNames taken)) (_: true);
  onlyTaken = lib.filterAttrs (name: _: names ? ${name});
  pruned =
    entry:
    entry
    // lib.optionalAttrs (entry ? optionalDependencies) {
      optionalDependencies = onlyTaken entry.optionalDependencies;
    }
    // lib.optionalAttrs (entry ? devDependencies) {
      devDependencies = onlyTaken entry.devDependencies;
    };

  tarball =
    path: entry:
    runCommand "${lib.replaceStrings [ "@" "/" ] [ "" "-" ] (nameOf path)}-${entry.version}.tgz"
      {
        nativeBuildInputs = [ nodejs_24 ];
        outputHash = entry.integrity;
        outputHashMode = "flat";
        impureEnvVars = lib.fetchers.proxyImpureEnvVars ++ [
          "NODE_EXTRA_CA_CERTS"
          "npm_config_registry"
        ];
      }
      ''
        export HOME="$TMPDIR"
        npm pack --silent --ignore-scripts --pack-destination "$TMPDIR" "${nameOf path}@${entry.version}"
        mv "$TMPDIR"/*.tgz "$out"
      '';

  sources = lib.mapAttrs tarball (removeAttrs taken [ "" ]);
in
importNpmLock {
  package = pruned manifest;
  packageLock = lock // {
    packages = lib.mapAttrs (_: pruned) taken;
  };
  packageSourceOverrides = sources;
}
// {
  inherit sources;
}
