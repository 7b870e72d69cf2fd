# The sandbox, with the database and the chain that it looks for on its PATH.
{
  writeShellApplication,
  spirit-altar,
  postgresql,
  foundry,
}:
writeShellApplication {
  name = "spirit-altar-sandbox";
  runtimeInputs = [
    spirit-altar
    postgresql
    foundry
  ];
  text = ''exec spirit-altar sandbox "$@"'';
}
