package io.github.pulsarspark.inspect.doctor

import scala.util.Properties

import org.apache.spark.SPARK_VERSION

import io.github.pulsarspark.errors.Conditions

/** Check of the versions on the class path of this JVM.
  *
  * @param connector
  *   version of the connector
  * @param client
  *   version of the Pulsar client in it
  */
private[doctor] final class VersionsCheck(connector: String, client: String, spark: String = SPARK_VERSION) {
  import VersionsCheck._

  def check: Check = Check("versions") { () =>
    if (Lines.exists(line => spark.startsWith(s"$line.")))
      Finding.Good(s"Spark $spark, Scala ${Properties.versionNumberString}, Java ${Runtime.version.feature}, " +
        s"connector $connector, Pulsar client $client")
    else Finding.Bad(Conditions.SparkVersion(found = s"this is Spark $spark"))
  }
}

private object VersionsCheck {

  /** The lines of Spark that the connector is tested with. */
  private val Lines = Seq("4.0", "4.1", "4.2", "4.3")
}
