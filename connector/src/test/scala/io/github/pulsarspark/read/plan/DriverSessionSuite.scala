package io.github.pulsarspark.read.plan

import java.nio.file.Files

import scala.util.Using

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.apache.spark.sql.types.{BinaryType, IntegerType, StringType, StructField, StructType}

import io.github.pulsarspark.{LocalSpark, UnitSuite}
import io.github.pulsarspark.cluster.{ScriptedCluster, StoredTopic, TopicLedger}
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.MetadataColumns

/** The driver's view of topics without a schema, on a scripted cluster. */
class DriverSessionSuite extends UnitSuite with LocalSpark {

  private val cluster = new ScriptedCluster
  private val (a, b)  = ("persistent://public/default/a", "persistent://public/default/b")

  override def beforeAll(): Unit = {
    Configurator.setLevel("org.apache.pulsar", Level.OFF)
    super.beforeAll()
    Seq(a, b).zipWithIndex.foreach { case (name, i) =>
      cluster.add(StoredTopic(name, Vector(TopicLedger(10L + i, Vector.empty))))
    }
  }

  override def afterAll(): Unit =
    try cluster.close()
    finally {
      super.afterAll()
      Configurator.setLevel("org.apache.pulsar", Level.INFO)
    }

  private def options(more: (String, String)*) = ReadOptions(CheckedOptions(
    Map("service.url" -> cluster.serviceUrl, "topics" -> "a,b") ++ more,
    Scope.StreamRead,
    _ => Nil
  ))

  private def asking[A](more: (String, String)*)(test: DriverSession => A): A =
    Using.resource(DriverSession(options(more: _*)))(test)

  private def condition(body: => Any): String = intercept[RuntimeException with PulsarError](body).condition

  private val value = StructType(Seq(StructField("value", BinaryType)))

  test("columns of the table: the value, and those of metadata that are shown or chosen") {
    asking()(session => assertEquals(session.columns.fieldNames.take(1).toSeq, Seq("value")))
    val hidden = MetadataColumns.hidden.head.name
    val more   = asking("metadataColumns" -> hidden)(_.columns.fieldNames.toSeq)
    assertEquals(more.diff(asking()(_.columns.fieldNames.toSeq)), Seq(hidden))
    assertEquals(asking("errorColumns" -> "true")(_.columns.size), asking()(_.columns.size) + 2)
  }

  test("schemas: of the topics that are asked for, in the order of their names") {
    asking() { session =>
      assertEquals(session.topicSchemas, Seq(a, b).map(_ -> TopicSchema.Bytes))
      assertEquals(session.schemasOf(Seq(b)), Seq(b -> TopicSchema.Bytes))
    }
  }

  test("schemas that a query reads with already: kept, and compared with those of new topics") {
    asking() { session =>
      val known = TopicSchema.Bytes.ofVersion(Seq[Byte](7))
      assertEquals(session.schemas(Seq(a, b), value, value, Map(a -> known)), Map(a -> known, b -> TopicSchema.Bytes))
      assertEquals(condition(session.schemas(Seq(b), value, value, Map(a -> TopicSchema("INT32")))),
        "PULSAR_SCHEMAS_DIFFER")
    }
  }

  test("columns that Spark knows and the topics do not have are refused") {
    asking() { session =>
      val other = StructType(value.fields :+ StructField("id", IntegerType))
      assertEquals(condition(session.schemas(Seq(a), other, value)), "PULSAR_USER_SCHEMA_MISMATCH")
      val text = StructType(Seq(StructField("value", StringType)))
      assertEquals(condition(session.schemas(Seq(a), text, text)), "PULSAR_USER_SCHEMA_MISMATCH")
    }
  }

  test("schemas of a query that starts are kept where the option says so, and read by at its next start") {
    val folder   = Files.createTempDirectory("schemas").resolve("kept")
    val tracking = "schemaTrackingLocation" -> folder.toString
    asking(tracking) { session =>
      session.topicSchemas
      assert(!Files.exists(folder), "a table that is only looked at keeps nothing")
      session.schemas(Seq(a), value, value)
      assert(Files.exists(folder.resolve("0.json")))
    }
    asking(tracking)(session => assertEquals(session.schemas(Seq(a, b), value, value).keySet, Set(a, b)))
    assert(Files.exists(folder.resolve("1.json")), "with the topic that is new")
  }

  test("a query that would read its own dead letters is refused before it connects") {
    val letters = Seq("service.url" -> "pulsar://127.0.0.1:1", "onDecodeError" -> "dlq")
    assertEquals(condition(DriverSession(options(letters :+ ("dlqTopic" -> b): _*))), "PULSAR_OPTION_INVALID")
    DriverSession(options(letters :+ ("dlqTopic" -> "c"): _*)).close()
  }
}
