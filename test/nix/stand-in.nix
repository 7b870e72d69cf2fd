# What the flake uses of nixpkgs, and no more, for evaluation without a network: packages are names, a derivation keeps
# its arguments, and `runCommand` is a real one, so that the fetch of a tarball can really be run.
let
  inherit (builtins)
    all
    attrNames
    concatStringsSep
    elem
    elemAt
    filter
    fromJSON
    functionArgs
    getEnv
    intersectAttrs
    isAttrs
    length
    listToAttrs
    mapAttrs
    pathExists
    readFile
    replaceStrings
    stringLength
    substring
    ;

  lib = {
    inherit
      all
      attrNames
      concatStringsSep
      elem
      mapAttrs
      replaceStrings
      ;
    genAttrs =
      names: make:
      listToAttrs (
        map (name: {
          inherit name;
          value = make name;
        }) names
      );
    filterAttrs =
      keep: set: lib.genAttrs (filter (name: keep name set.${name}) (attrNames set)) (name: set.${name});
    isBool = builtins.isBool;
    boolToString = value: if value then "true" else "false";
    optionalAttrs = condition: set: if condition then set else { };
    optional = condition: value: if condition then [ value ] else [ ];
    intersectLists = left: filter (one: elem one left);
    last = list: elemAt list (length list - 1);
    splitString = separator: text: filter builtins.isString (builtins.split separator text);
    hasPrefix = prefix: text: substring 0 (stringLength prefix) text == prefix;
    hasInfix = infix: text: length (lib.splitString infix text) > 1;
    importJSON = path: fromJSON (readFile path);
    getExe = package: "${package}/bin/${package.meta.mainProgram or package.name}";
    fetchers.proxyImpureEnvVars = [ "https_proxy" ];
    licenses.mit = "MIT";
    platforms.linux = [ "x86_64-linux" "aarch64-linux" ];

    fileset = {
      unions =
        paths:
        assert all pathExists paths;
        map toString paths;
      toSource =
        { root, fileset }:
        {
          root = toString root;
          files = fileset;
        };
    };

    mkOption = option: option // { isOption = true; };
    mkEnableOption =
      _:
      lib.mkOption {
        type = "bool";
        default = false;
      };
    mkForce = value: value;
    mkIf = condition: content: {
      isIf = true;
      inherit condition content;
    };
    literalExpression = text: text;
    types = {
      package = "package";
      str = "str";
      port = "port";
      bool = "bool";
      int = "int";
      path = "path";
      oneOf = types: concatStringsSep " or " types;
      listOf = type: "list of ${type}";
      attrsOf = type: "attributes of ${type}";
      nullOr = type: if isAttrs type then type // { orNull = true; } else "${type} or null";
      pathWith = conditions: conditions;
    };
  };

  named = name: {
    inherit name;
    outPath = "/stand-in/${name}";
    meta.mainProgram = name;
  };
  kept =
    system: args:
    derivation {
      name = args.name or args.pname;
      inherit system;
      builder = "/bin/sh";
    }
    // args
    // {
      outPath = "/stand-in/${args.name or args.pname}";
    };

  packagesOf =
    system:
    let
      isDarwin = lib.hasInfix "darwin" system;
      programs = [
        "chromium"
        "curl"
        "foundry"
        "nodejs_24"
        "postgresql"
        "postgresqlTestHook"
        "procps"
      ];
      pkgs = lib.genAttrs programs named // {
        inherit lib;
        stdenv = {
          hostPlatform = {
            inherit isDarwin system;
            isLinux = !isDarwin;
            isAarch64 = lib.hasPrefix "aarch64" system;
          };
          mkDerivation = kept system;
        };
        buildNpmPackage = kept system;
        mkShell = args: kept system (args // { name = "shell"; });
        writeShellApplication = kept system;
        testers.runNixOSTest = kept system;
        importNpmLock = {
          npmConfigHook = "importNpmLock.npmConfigHook";
          __functor = _: args: kept system (args // { name = "lock"; });
        };
        runCommand =
          name: env: script:
          derivation (
            removeAttrs env [ "nativeBuildInputs" ]
            // {
              inherit name system;
              builder = "/bin/sh";
              args = [ "-euc" script ];
              TMPDIR = "/tmp";
              PATH = getEnv "PATH";
            }
          );
        callPackage =
          path: args:
          let
            make = import path;
          in
          make (intersectAttrs (functionArgs make) pkgs // args);
      };
    in
    pkgs;

  # Options' defaults under what is set, and the conditions carried out: as much as one module by itself needs.
  carriedOut =
    value:
    if isAttrs value && value ? isIf then
      if value.condition then carriedOut value.content else { }
    else if isAttrs value && !(value ? outPath) then
      mapAttrs (_: carriedOut) value
    else
      value;
  defaultsOf =
    options:
    mapAttrs (
      _: option: if option ? isOption then option.default or null else defaultsOf option
    ) options;
  isSet = value: isAttrs value && !(value ? outPath);
  merged =
    left: right:
    left
    // mapAttrs (
      name: value: if isSet (left.${name} or null) && isSet value then merged left.${name} value else value
    ) right;
in
{
  inherit lib;
  legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" "aarch64-darwin" ] packagesOf;

  # What a module says when `set` is what its user wrote below `services.spirit-altar`.
  evaluated =
    module: system: set:
    let
      pkgs = packagesOf system;
      made = module {
        inherit lib pkgs;
        config.services.spirit-altar = merged (defaultsOf made.options.services.spirit-altar) set;
      };
    in
    {
      inherit (made) options;
      config = carriedOut made.config;
    };
}
