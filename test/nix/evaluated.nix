# What the tests want to know of the flake, evaluated with the stand-in for nixpkgs. `secrets` is a list of names as JSON.
{
  secrets ? "[]",
}:
let
  inherit (builtins) attrNames fromJSON mapAttrs;
  nixpkgs = import ./stand-in.nix;
  self = (import ../../flake.nix).outputs { inherit self nixpkgs; };
  package = self.packages.x86_64-linux.default;
  module = nixpkgs.evaluated self.nixosModules.default "x86_64-linux";
  configOf = set: (module set).config;
  enabled = {
    enable = true;
    publicUrl = "https://altar.example";
  };
in
{
  outputs = mapAttrs (_: mapAttrs (_: attrNames)) {
    inherit (self)
      packages
      apps
      devShells
      checks
      ;
  };
  programs = mapAttrs (_: app: app.program) self.apps.x86_64-linux;
  # As a clean checkout is evaluated; a dirty one has no `rev`.
  committed =
    let
      committed = (import ../../flake.nix).outputs {
        inherit nixpkgs;
        self = committed // {
          rev = "0123456789abcdef0123456789abcdef01234567";
        };
      };
    in
    committed.packages.x86_64-linux.default.env;
  package = {
    inherit (package)
      env
      pname
      version
      src
      npmBuildScript
      npmBuildFlags
      npmConfigHook
      ;
  };
  checked = self.checks.x86_64-linux.tests.src.files;
  locks =
    let
      of = npmDeps: {
        inherit (npmDeps) package packageLock;
        sources = attrNames npmDeps.packageSourceOverrides;
      };
      toolsOf = system: nixpkgs.legacyPackages.${system}.callPackage ../../nix/dependencies.nix { folder = ../../test/tools; };
    in
    {
      "" = mapAttrs (_: packages: of packages.default.npmDeps) self.packages;
      "test/tools/" = mapAttrs (system: _: of (toolsOf system)) self.packages;
    };
  inherit (self.checks.x86_64-linux.lint) buildPhase;

  # Two that are built: a tarball, and the same one with another hash expected.
  inherit (package.npmDeps) sources;
  doubted = derivation (
    package.npmDeps.sources."node_modules/tldts".drvAttrs
    // {
      outputHash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    }
  );

  served =
    (nixpkgs.legacyPackages.x86_64-linux.callPackage ../../nix/serve.nix { spirit-altar = package; })
    .text;

  off = configOf { };
  plain = configOf enabled;
  open = configOf (
    enabled
    // {
      host = "::";
      port = 443;
      openFirewall = true;
      trustedProxies = [
        "10.0.0.0/8"
        "127.0.0.1"
      ];
      environmentFile = "/run/secrets/altar.env";
      settings.PAY_TO = "0x1";
      database.createLocally = false;
    }
  );
  homeless = configOf (enabled // { database.createLocally = false; });
  leaky = map (name: (configOf (enabled // { settings.${name} = "secret"; })).assertions) (
    fromJSON secrets
  );
  environmentFile = (module { }).options.services.spirit-altar.environmentFile.type;

  machine =
    removeAttrs
      (self.checks.x86_64-linux.vm.nodes.machine {
        pkgs = nixpkgs.legacyPackages.x86_64-linux;
        config.services.spirit-altar.package = package;
      })
      [ "imports" ];
}
