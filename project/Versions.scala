import sbt.io.IO
import sbt.io.syntax._

/** Every version the build uses, in one place. Spark is what the connector is compiled against; it runs on 4.0 to 4.3.
  */
object Versions {
  val scala           = "2.13.16" // what Spark 4.0 ships; later lines run it as well
  val spark           = "4.0.4"
  val sparkRealTime   = "4.2.0"   // what the classes of real-time mode are compiled against; they run on 4.1 to 4.3
  val pulsar          = "4.2.4"
  val pulsarNext      = "5.0.1"   // whose client the sources must compile against, too; in no jar
  val asyncHttpClient = "2.15.0"  // that of the client in the jar
  val bookKeeper      = "4.17.3"  // what this Pulsar client's own BookKeeper jars are
  val bouncyCastle    = "1.86"
  val munit           = "1.2.4"
  val scalacheck      = "1.2.0"
  val jazzer          = "0.30.0"

  /** Released versions whose public API this one keeps: those of the same major version, and of 0.x the newest minor.
    */
  val compatibleWith: Seq[String] = Nil

  /** The project's own version has one source, which the wheel reads too. */
  def project(root: File): String = {
    val text = IO.read(root / "python" / "pulsar_spark" / "_version.py")
    """(?m)^__version__ = "(.+)"$""".r.findFirstMatchIn(
      text
    ).map(_.group(1)).getOrElse(sys.error("_version.py names no version"))
  }
}
