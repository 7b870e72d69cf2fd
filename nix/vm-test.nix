# A NixOS machine sells a stone and remembers it: the chain's money is the sandbox's, all else is as in production.
{
  lib,
  testers,
  postgresql,
  foundry,
  module,
}:
let
  # Accounts 9 and 5 of the test mnemonic in anvil's manual: public, and worth nothing on any real chain.
  relayerKey = "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6";
  payerKey = "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba";
  payer = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
in
testers.runNixOSTest {
  name = "spirit-altar";

  nodes.machine =
    { config, pkgs, ... }:
    {
      imports = [ module ];
      virtualisation.memorySize = 2048;
      environment.systemPackages = [
        config.services.spirit-altar.package
        pkgs.curl
      ];

      services.spirit-altar = {
        enable = true;
        publicUrl = "http://127.0.0.1:3000";
        environmentFile = "/run/spirit-altar.env";
        settings.X402_NETWORK = "eip155:84532";
      };
      # Its environment names the chain, which has to be there first.
      systemd.services.spirit-altar.wantedBy = lib.mkForce [ ];

      systemd.services.sandbox = {
        wantedBy = [ "multi-user.target" ];
        path = [
          foundry
          postgresql
        ];
        environment = {
          PORT = "4000";
          DATA_DIR = "/var/lib/sandbox";
        };
        serviceConfig = {
          ExecStart = "${lib.getExe config.services.spirit-altar.package} sandbox";
          DynamicUser = true;
          StateDirectory = "sandbox";
        };
      };
    };

  testScript = ''
    import json

    altar = "http://127.0.0.1:3000"
    json_body = "-H 'content-type: application/json' --data"
    machine.wait_until_succeeds("curl --silent --fail http://127.0.0.1:4000/sandbox")
    sandbox = json.loads(machine.succeed("curl --silent --fail http://127.0.0.1:4000/sandbox"))
    machine.succeed(
        "umask 077; printf 'RPC_URL=%s\nPAY_TO=%s\nRELAYER_KEY=%s\n' "
        f"{sandbox['rpcUrl']} {sandbox['payTo']} ${relayerKey} > /run/spirit-altar.env"
    )

    # Started means that it answers.
    machine.succeed("systemctl start spirit-altar.service")
    machine.succeed(f"curl --silent --fail {altar}/api/health")

    machine.succeed(f"curl --silent --fail {json_body} '{{\"address\":\"${payer}\"}}' {sandbox['fund']}")
    machine.succeed(
        "XDG_STATE_HOME=/tmp/journal SPIRIT_ALTAR_PRIVATE_KEY=${payerKey} spirit-altar witness "
        f"--url {altar} --text 'The heron will return by May.' --kind prediction"
    )

    verify = f"spirit-altar verify --url {altar} --rpc {sandbox['rpcUrl']}"
    whole = "1 stones: every link hashes, every payment is on the chain."
    assert whole in machine.succeed(verify)
    machine.succeed("systemctl restart spirit-altar.service")
    assert whole in machine.succeed(verify)

    machine.succeed("systemctl stop spirit-altar.service")
    machine.fail("systemctl is-failed spirit-altar.service")
    machine.succeed("test -z \"$(find /nix/store -maxdepth 1 -name '*spirit-altar.env')\"")
  '';
}
