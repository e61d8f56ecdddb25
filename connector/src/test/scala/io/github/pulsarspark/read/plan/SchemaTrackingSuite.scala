package io.github.pulsarspark.read.plan

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema

class SchemaTrackingSuite extends UnitSuite {

  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("schemas").resolve("not/there/yet"),
    _ => ()
  )

  private def record(fields: String*) =
    TopicSchema(
      "AVRO",
      fields.map(f => s"""{"name":"$f","type":"int"}""").mkString("""{"type":"record","name":"R","fields":[""", ",",
        "]}")
    )

  private def names(folder: Path): Seq[String] =
    Using.resource(Files.list(folder))(
      _.iterator.asScala.map(_.getFileName.toString).filter(_.matches("\\d+\\.json")).toSeq.sorted
    )

  private def condition(body: => Any): String = intercept[RuntimeException with PulsarError](body).condition

  folder.test("the next start reads by the kept schemas; each change adds a file") { folder =>
    def tracking = new SchemaTracking(folder.toString, new Configuration)
    val text     = TopicSchema("STRING", properties = Map("a" -> "b"))
    assertEquals(tracking.merged(Seq("t" -> record("a"))), Seq("t" -> record("a")))
    tracking.keep(Map("t" -> record("a"), "u" -> text))
    tracking.keep(Map("t" -> record("a")))
    assertEquals(names(folder), Seq("0.json"))
    assertEquals(tracking.merged(Seq("u" -> text)), Seq("u" -> text))
    val reader = tracking.merged(Seq("t" -> record("b"))).head._2
    assert(Seq("a", "b").forall(n => reader.definition.contains(s""""name":"$n"""")), reader)
    tracking.keep(Map("t" -> reader))
    assertEquals(names(folder), Seq("0.json", "1.json"))
    assertEquals(tracking.merged(Seq("t" -> record("b"))), Seq("t" -> reader))
    tracking.keep(Map("t" -> reader))
    assertEquals(names(folder), Seq("0.json", "1.json"))
    assertEquals(condition(tracking.merged(Seq("u" -> TopicSchema("INT32")))), "PULSAR_SCHEMA_CHANGED")
    (2 to 10).foreach(n => tracking.keep(Map("t" -> record(s"f$n"))))
    assertEquals(tracking.merged(Seq("t" -> record("f10"))), Seq("t" -> record("f10")))
  }

  folder.test("a file without schemas is an error that names it") { folder =>
    Files.createDirectories(folder)
    for (text <- Seq("", "{", """{"version":2,"schemas":{}}""", """{"version":1}""")) {
      Files.writeString(folder.resolve("3.json"), text)
      val error =
        intercept[RuntimeException with PulsarError](
          new SchemaTracking(folder.toString, new Configuration).merged(Seq("t" -> record("a")))
        )
      assertEquals(error.condition, "PULSAR_SCHEMA_LOG_MALFORMED")
      assert(error.getMessage.contains("3.json"), error.getMessage)
    }
  }
}
