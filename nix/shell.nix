# Node, PostgreSQL and the chain of nixpkgs; `npm ci && npm test` as everywhere else.
{
  lib,
  stdenv,
  mkShell,
  nodejs_24,
  postgresql,
  foundry,
  chromium,
}:
mkShell (
  {
    packages = [
      nodejs_24
      postgresql
      foundry
    ];
    # The install scripts of npm's own Node and PostgreSQL bring programs for other distributions.
    npm_config_ignore_scripts = "true";
  }
  // lib.optionalAttrs stdenv.hostPlatform.isLinux { CHROMIUM_PATH = lib.getExe chromium; }
)
