package io.github.pulsarspark.common

import org.apache.pulsar.client.impl.PulsarClientImpl

/** The published jar carries Pulsar's and BookKeeper's clients under another package: `org.apache.pulsar...` and
  * `org.apache.bookkeeper...` names of their own plug-ins are found there.
  */
private[pulsarspark] object ShadedClassNames {

  // in parts, because relocation rewrites whole names
  private val Moved =
    Seq(Seq("org", "apache", "pulsar", ""), Seq("org", "apache", "bookkeeper", "")).map(_.mkString("."))
  private val Original = Seq("org", "apache", "pulsar", "client", "impl", "PulsarClientImpl").mkString(".")
  private val prefix   = classOf[PulsarClientImpl].getName.stripSuffix(Original)

  /** The name under which a class of that name is here. */
  def apply(className: String): String = if (Moved.exists(className.startsWith)) prefix + className else className
}
