# `services.spirit-altar`: the production server as a unit that may do little else. Secrets come from a file outside of
# the store; all other values are options, or variables in `settings`.
self:
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.spirit-altar;
  inherit (lib) mkOption types;

  name = "spirit-altar";
  secrets = lib.importJSON ./secrets.json;
  list = lib.concatStringsSep ", " secrets;

  # These variables have options of their own.
  reserved = [
    "HOST"
    "PORT"
    "PUBLIC_URL"
    "TRUSTED_PROXIES"
  ];

  # systemd expands % in every setting, and $ in a command.
  inEnvironment = lib.replaceStrings [ "%" ] [ "%%" ];
  inCommand = lib.replaceStrings [ "%" "$" ] [ "%%" "$$" ];

  textOf =
    value:
    if lib.isBool value then
      lib.boolToString value
    else if builtins.isPath value then
      "${value}"
    else
      toString value;

  # What listens everywhere is asked on the loopback.
  probe =
    {
      "0.0.0.0" = "127.0.0.1";
      "::" = "[::1]";
    }
    .${cfg.host} or (
      if lib.hasInfix ":" cfg.host then
        "[${lib.replaceStrings [ "%" ] [ "%25" ] cfg.host}]"
      else
        cfg.host
    );
  isLowPort = cfg.port < 1024;
in
{
  options.services.spirit-altar = {
    enable = lib.mkEnableOption "Spirit Altar, a paid API that can be checked";

    package = mkOption {
      type = types.package;
      default = self.packages.${pkgs.stdenv.hostPlatform.system}.default;
      defaultText = lib.literalExpression "the flake's own package";
      description = "The package whose server is run.";
    };

    host = mkOption {
      type = types.str;
      default = "127.0.0.1";
      description = "Address to listen on. TLS belongs in front.";
    };

    port = mkOption {
      type = types.port;
      default = 3000;
      description = "Port to listen on.";
    };

    openFirewall = mkOption {
      type = types.bool;
      default = false;
      description = "Whether to open the port in the firewall.";
    };

    publicUrl = mkOption {
      type = types.str;
      example = "https://altar.example";
      description = "The server's public address; permalinks and challenges are built from it.";
    };

    trustedProxies = mkOption {
      type = types.listOf types.str;
      default = [ ];
      example = [ "127.0.0.1" ];
      description = "Addresses or CIDRs whose `X-Forwarded-For` or `Forwarded` counts.";
    };

    environmentFile = mkOption {
      type = types.nullOr (
        types.pathWith {
          inStore = false;
          absolute = true;
        }
      );
      default = null;
      example = "/run/secrets/spirit-altar.env";
      description = ''
        File with the secret variables as `node --env-file` reads them, such as `LOG_KEY="…"`. systemd hands it
        to the server as a credential, and nothing copies it to the store: ${list}.
        `DATABASE_URL` only without `database.createLocally`.
        Without payment configuration the free routes work and paid ones answer 503.
      '';
    };

    settings = mkOption {
      type = types.attrsOf (
        types.oneOf [
          types.bool
          types.int
          types.path
          types.str
        ]
      );
      default = { };
      example = {
        PAY_TO = "0x…";
        ROOMS_MAX = 500;
        TERMS_FILE = ./terms.txt;
      };
      description = "Further variables that are no secrets; `spirit-altar serve --help` lists them all.";
    };

    database.createLocally = mkOption {
      type = types.bool;
      default = true;
      description = "Whether to keep the data in this machine's PostgreSQL, reached over its socket without a password.";
    };
  };

  config = lib.mkIf cfg.enable {
    assertions = [
      {
        assertion = lib.intersectLists secrets (lib.attrNames cfg.settings) == [ ];
        message = "services.spirit-altar.settings is readable by everyone: put ${list} into environmentFile.";
      }
      {
        assertion = lib.intersectLists reserved (lib.attrNames cfg.settings) == [ ];
        message = "services.spirit-altar has options for ${lib.concatStringsSep ", " reserved}: leave them out of settings.";
      }
      {
        assertion = cfg.database.createLocally || cfg.environmentFile != null;
        message = "services.spirit-altar needs a database: set database.createLocally, or DATABASE_URL in environmentFile.";
      }
    ];

    services.postgresql = lib.mkIf cfg.database.createLocally {
      enable = true;
      ensureDatabases = [ name ];
      ensureUsers = [
        {
          inherit name;
          ensureDBOwnership = true;
        }
      ];
    };

    networking.firewall.allowedTCPPorts = lib.mkIf cfg.openFirewall [ cfg.port ];

    systemd.services.spirit-altar = {
      description = "Spirit Altar";
      wantedBy = [ "multi-user.target" ];
      wants = [ "network-online.target" ];
      after = [ "network-online.target" ] ++ lib.optional cfg.database.createLocally "postgresql.target";
      requires = lib.optional cfg.database.createLocally "postgresql.target";

      environment = lib.mapAttrs (_: value: inEnvironment (textOf value)) (
        {
          HOST = cfg.host;
          PORT = cfg.port;
          PUBLIC_URL = cfg.publicUrl;
          TRUSTED_PROXIES = lib.concatStringsSep "," cfg.trustedProxies;
          # What a restored database has forgotten; below StateDirectory, which outlives the service.
          LOG_CHECKPOINT_FILE = "/var/lib/${name}/checkpoint";
        }
        // lib.optionalAttrs cfg.database.createLocally {
          DATABASE_URL = "postgresql:///${name}?host=/run/postgresql&user=${name}";
        }
        // cfg.settings
      );

      serviceConfig = {
        ExecStart = lib.getExe (pkgs.callPackage ./serve.nix { spirit-altar = cfg.package; });
        # Started once it answers reads, not before: what is ordered after it may ask it. A relayer without gas fails no start.
        Type = "exec";
        ExecStartPost = inCommand (
          lib.concatStringsSep " " [
            "${lib.getExe pkgs.curl} --silent --fail --max-time 5 --output /dev/null"
            "--retry 90 --retry-delay 1 --retry-all-errors"
            "http://${probe}:${toString cfg.port}/readyz?for=reads"
          ]
        );
        TimeoutStartSec = 120;
        Restart = "always";
        RestartSec = 2;
        # Payments under way are finished; the server itself needs at most twenty seconds.
        KillSignal = "SIGTERM";
        TimeoutStopSec = 60;
        # What it ends with when it was asked to.
        SuccessExitStatus = 130;

        DynamicUser = true;
        User = name;
        StateDirectory = name;
        UMask = "0077";
        AmbientCapabilities = lib.optional isLowPort "CAP_NET_BIND_SERVICE";
        CapabilityBoundingSet = if isLowPort then [ "CAP_NET_BIND_SERVICE" ] else [ "" ];
        DevicePolicy = "closed";
        LockPersonality = true;
        NoNewPrivileges = true;
        PrivateDevices = true;
        PrivateTmp = true;
        PrivateUsers = !isLowPort;
        ProtectClock = true;
        ProtectControlGroups = true;
        ProtectHome = true;
        ProtectHostname = true;
        ProtectKernelLogs = true;
        ProtectKernelModules = true;
        ProtectKernelTunables = true;
        ProtectProc = "invisible";
        ProtectSystem = "strict";
        RemoveIPC = true;
        RestrictAddressFamilies = [
          "AF_INET"
          "AF_INET6"
          "AF_UNIX"
        ];
        RestrictNamespaces = true;
        RestrictRealtime = true;
        RestrictSUIDSGID = true;
        SystemCallArchitectures = "native";
        SystemCallFilter = [
          "@system-service"
          "~@privileged"
        ];
        # No MemoryDenyWriteExecute: V8 compiles what it runs.
      }
      // lib.optionalAttrs (cfg.environmentFile != null) {
        LoadCredential = inEnvironment "environment:${cfg.environmentFile}";
      };
    };
  };
}
