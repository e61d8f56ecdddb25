package io.github.pulsarspark

import java.net.URLClassLoader
import java.nio.file.Files

import org.apache.spark.sql.pulsar.StandInProvider
import org.apache.spark.sql.sources.DataSourceRegister

class SourceNamesSuite extends UnitSuite {

  private def warning(services: Class[_]*): Option[String] = warningOf(services.map(_.getName): _*)

  /** The warning where these classes are registered too. */
  private def warningOf(services: String*): Option[String] = {
    val file = Files.createTempDirectory("sources").resolve(s"META-INF/services/${classOf[DataSourceRegister].getName}")
    Files.createDirectories(file.getParent)
    Files.writeString(file, services.mkString("\n"))
    val folder = file.getParent.getParent.getParent.toUri.toURL
    SourceNames.warning(new URLClassLoader(Array(folder), getClass.getClassLoader))
  }

  test("the short names of this connector are no conflict") {
    assertEquals(new PulsarTableProvider().shortName(), "pulsar")
    assertEquals(new PulsarSparkTableProvider().shortName(), "pulsar-spark")
    assertEquals(new PulsarSparkTableProvider().keyPrefix(), "pulsar")
    assertEquals(warning(), None)
    assertEquals(warning(classOf[NamelessSource]), None)
  }

  test("a source inside Spark's package is named with its jar, as the one that runs") {
    val jar  = classOf[StandInProvider].getProtectionDomain.getCodeSource.getLocation
    val text = warning(classOf[StandInProvider])
    assertEquals(
      text,
      Some(
        "Other data sources on the class path are named `pulsar` too: " +
          s"""org.apache.spark.sql.pulsar.StandInProvider ($jar). format("pulsar") runs """ +
          """org.apache.spark.sql.pulsar.StandInProvider. Use format("pulsar-spark") or """ +
          """format("io.github.pulsarspark.PulsarTableProvider") for this connector, or remove the other jar."""
      )
    )
  }

  test("a source of another package makes the name ambiguous") {
    assert(warning(classOf[OtherSource]).exists(_.contains("""format("pulsar") fails. Use format("pulsar-spark")""")))
  }

  test("a source that cannot be loaded is named") {
    assert(warningOf("no.such.Source").exists(_.contains("no.such.Source")))
  }

  test("a warning that was reported, none the next time") {
    assertEquals(SourceNames.firstWarning(), "")
    assertEquals(SourceNames.firstWarning(), "")
  }
}

final class OtherSource extends DataSourceRegister {
  override def shortName(): String = "Pulsar"
}

final class NamelessSource extends DataSourceRegister {
  override def shortName(): String = throw new UnsupportedOperationException
}
