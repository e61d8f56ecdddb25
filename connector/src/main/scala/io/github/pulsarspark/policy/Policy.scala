package io.github.pulsarspark.policy

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.{SparkConf, SparkEnv}

/** List of all that a shared Spark server may reach for its users, by the settings `spark.pulsar.policy.*`. Whatever is
  * not listed is refused.
  *
  * @param files
  *   folders whose files options may name
  * @param inlineSecrets
  *   whether credentials may be a `data:` URL
  * @param classes
  *   names of plug-ins
  * @param insecure
  *   whether options may switch checks of certificates off
  */
private[pulsarspark] final case class Policy(
    files: Seq[Path],
    inlineSecrets: Boolean,
    hosts: Seq[HostPattern],
    classes: Set[String],
    storage: Seq[StoragePrefix],
    insecure: Boolean
)

private[pulsarspark] object Policy {

  /** The settings from which a policy was made, and the policy. */
  private val made = new AtomicReference[Option[(SparkConf, Option[Policy])]](None)

  /** The policy of this JVM; None in the mode `open`, and without Spark. It comes from the configuration that Spark was
    * started with, which executors have from their driver. Settings of a session are not in it, so that no user of a
    * server can loosen it.
    */
  def now(): Option[Policy] = Option(SparkEnv.get).flatMap { spark =>
    made.get.collect { case (conf, policy) if conf eq spark.conf => policy }.getOrElse {
      val policy = PolicySettings.policy(spark.conf.getAllWithPrefix(PolicyKeys.Prefix).toMap)
      made.set(Some(spark.conf -> policy))
      policy
    }
  }
}
