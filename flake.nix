# The same package, sandbox, server and checks for whoever uses Nix; nixpkgs is the only input.
{
  description = "A paid API you can check: x402 acts charged exactly once, witness stones in a hash chain, and signal rooms";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "aarch64-darwin"
      ];
      eachSystem =
        make:
        lib.genAttrs systems (
          system: make nixpkgs.legacyPackages.${system} self.packages.${system}.default
        );
      app = package: description: {
        type = "app";
        program = lib.getExe package;
        meta = { inherit description; };
      };
    in
    {
      packages = eachSystem (pkgs: _: { default = pkgs.callPackage ./nix/package.nix { rev = self.rev or null; }; });

      apps = eachSystem (
        pkgs: spirit-altar: {
          default = app (pkgs.callPackage ./nix/sandbox.nix {
            inherit spirit-altar;
          }) "Everything on this machine, with play money";
          serve = app (pkgs.callPackage ./nix/serve.nix {
            inherit spirit-altar;
          }) "The production server, configured by its environment";
        }
      );

      devShells = eachSystem (pkgs: _: { default = pkgs.callPackage ./nix/shell.nix { }; });

      checks = eachSystem (
        pkgs: spirit-altar:
        { package = spirit-altar; }
        // pkgs.callPackage ./nix/checks.nix { inherit spirit-altar; }
        // lib.optionalAttrs pkgs.stdenv.hostPlatform.isLinux {
          vm = pkgs.callPackage ./nix/vm-test.nix { module = self.nixosModules.default; };
        }
      );

      nixosModules.default = import ./nix/module.nix self;
    };
}
