# The production server; every value comes from its environment.
{ writeShellApplication, spirit-altar }:
writeShellApplication {
  name = "spirit-altar-serve";
  runtimeInputs = [ spirit-altar ];
  text = ''exec spirit-altar serve "$@"'';
}
