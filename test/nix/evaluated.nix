# What the tests want to know of the flake, evaluated with the stand-in for nixpkgs. `names` are variables as JSON.
{
  names ? "[]",
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
  locked = mapAttrs (_: packages: attrNames packages.default.npmDeps.sources) self.packages;
  package = {
    inherit (package.src) files;
    script = package.npmBuildScript;
    flags = package.npmBuildFlags;
  };

  # Two that are built: a tarball, and the same one with another hash expected.
  inherit (package.npmDeps) sources;
  doubted = derivation (
    package.npmDeps.sources."node_modules/tldts".drvAttrs
    // {
      outputHash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    }
  );

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
      environmentFile = "/run/secrets/100%.env";
      settings = {
        PAY_TO = "0x1";
        OPERATOR_NAME = "100% wool";
        FACILITATOR_CATALOGUES = true;
        ROOMS_MAX = 500;
        TERMS_FILE = ./stand-in.nix;
      };
      database.createLocally = false;
    }
  );
  scoped = configOf (enabled // { host = "fe80::1%eth0"; });
  homeless = configOf (enabled // { database.createLocally = false; });
  setting = map (name: (configOf (enabled // { settings.${name} = "given"; })).assertions) (
    fromJSON names
  );
  environmentFile = (module { }).options.services.spirit-altar.environmentFile.type;
}
