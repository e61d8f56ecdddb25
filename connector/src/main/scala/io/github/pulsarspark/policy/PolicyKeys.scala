package io.github.pulsarspark.policy

/** Names of the settings of a policy, without their prefix. */
private[policy] object PolicyKeys {
  val Prefix = "spark.pulsar.policy."

  val Files         = "files"
  val InlineSecrets = "inlineSecrets"
  val Hosts         = "hosts"
  val Classes       = "classes"
  val Storage       = "storage"
  val Insecure      = "insecure"
  val Mode          = "mode"

  val All: Seq[String] = Seq(Mode, Files, InlineSecrets, Hosts, Classes, Storage, Insecure)
}
