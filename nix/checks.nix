# Types, lint, tests, and the installed server against PostgreSQL. A tool that the lock has no hash of for this platform
# is not run there: the code is the same on all three, and x86_64-linux runs everything.
{
  lib,
  stdenv,
  callPackage,
  importNpmLock,
  nodejs_24,
  postgresql,
  postgresqlTestHook,
  foundry,
  chromium,
  procps,
  curl,
  spirit-altar,
}:
let
  npmDeps = callPackage ./dependencies.nix { hasCheckers = true; };
  isLinux = stdenv.hostPlatform.isLinux;

  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions [
      ../.ci
      ../.editorconfig
      ../.env.example
      ../.oxfmtrc.json
      ../.oxlintrc.json
      ../ARCHITECTURE.md
      ../CONTRIBUTING.md
      ../README.md
      ../SECURITY.md
      ../docs
      ../flake.lock
      ../flake.nix
      ../migrations
      ../nix
      ../package-lock.json
      ../package.json
      ../schema
      ../src
      ../test
      ../tsconfig.json
      ../tsconfig.pack.json
      ../vitest.config.ts
    ];
  };

  check =
    name: more: script:
    stdenv.mkDerivation (
      {
        name = "spirit-altar-${name}";
        inherit src npmDeps;
        nativeBuildInputs = [
          nodejs_24
          importNpmLock.npmConfigHook
        ]
        ++ more.programs or [ ];
        npmRebuildFlags = [ "--ignore-scripts" ];
        # The tests listen on the loopback.
        __darwinAllowLocalNetworking = true;
        buildPhase = ''
          runHook preBuild
          export PATH="$PWD/node_modules/.bin:$PATH"
          ${script}
          runHook postBuild
        '';
        installPhase = "touch $out";
      }
      // more.env or { }
    );

in
{
  # Effect's own compiler is no package of this lock: CI runs it.
  types = check "types" { } "tsc --noEmit";

  tests =
    check "tests"
      {
        programs = [
          postgresql
          foundry
          procps
        ];
        env = lib.optionalAttrs isLinux { CHROMIUM_PATH = lib.getExe chromium; };
      }
      # What asks a registry, or Nix itself, cannot run inside of a build.
      "vitest run --exclude 'test/{integrators,nix,pack}/**' --exclude test/agents/conformance.test.ts";

  # Over the unix socket and without a password, as the NixOS module connects.
  integration = stdenv.mkDerivation {
    name = "spirit-altar-integration";
    dontUnpack = true;
    doCheck = true;
    nativeCheckInputs = [
      curl
      postgresql
      postgresqlTestHook
      spirit-altar
    ];
    __darwinAllowLocalNetworking = true;
    checkPhase = ''
      runHook preCheck
      export PORT=3917
      DATABASE_URL="postgresql:///$PGDATABASE?host=$PGHOST&user=$PGUSER" spirit-altar serve &
      server=$!
      curl --silent --fail --max-time 5 --retry 30 --retry-delay 1 --retry-all-errors "http://127.0.0.1:$PORT/api/health"
      curl --silent --fail --output /dev/null "http://127.0.0.1:$PORT/v2/"
      curl --silent --fail "http://127.0.0.1:$PORT/api/witness/chain?from=1&limit=1"
      kill "$server"
      wait "$server" || test "$?" = 130
      runHook postCheck
    '';
    installPhase = "touch $out";
  };
}
// lib.optionalAttrs isLinux {
  lint = check "lint" { } "npm run lint";
}
