package io.github.pulsarspark.catalog

import org.apache.spark.sql.connector.catalog.TableChange
import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{PulsarError, PulsarInputException}

class AlterationSuite extends UnitSuite {

  test("columns are added at the end, and partitions") {
    assertEquals(
      Alteration("t",
        Seq(TableChange.addColumn(Array("a"), IntegerType),
          TableChange.addColumn(Array("b"), StringType,
            true, "the second"))),
      Alteration(new StructType().add("a", IntegerType).add("b", StringType, true, "the second"))
    )
    assertEquals(Alteration("t", Seq(TableChange.setProperty("Partitions", "8"))).partitions, Some(8))
  }

  test("policies are set and unset") {
    val policies = Alteration("t",
      Seq(TableChange.setProperty("messagettl", "2h"), TableChange.removeProperty("retention.size"))).policies
    assertEquals(policies.values.map { case (p, v) => p.name -> v },
      Map[String, Option[Long]]("messageTTL" -> Some(7200L), "retention.size" -> None))
    assertEquals(policies.toString, "retention.size, messageTTL")
  }

  private val position = TableChange.ColumnPosition.first()

  Seq[(TableChange, String, String)](
    (TableChange.addColumn(Array("a", "b"), IntegerType), "PULSAR_CATALOG_STATEMENT", "no fields of one"),
    (TableChange.addColumn(Array("a"), IntegerType, false), "PULSAR_CATALOG_STATEMENT", "NOT NULL"),
    (TableChange.addColumn(Array("a"), IntegerType, true, null, position, null), "PULSAR_CATALOG_STATEMENT", "FIRST"),
    (TableChange.addColumn(Array("__key"), BinaryType), "PULSAR_CATALOG_STATEMENT", "metadata column"),
    (TableChange.addColumn(Array("__deliverAfter"), StringType), "PULSAR_CATALOG_STATEMENT", "metadata column"),
    (TableChange.addColumn(Array("__KEY"), StringType), "PULSAR_CATALOG_STATEMENT", "metadata column"),
    (TableChange.addColumn(Array("c"), VarcharType(3)), "PULSAR_CATALOG_STATEMENT", "as VARCHAR(3)"),
    (TableChange.deleteColumn(Array("a"), false), "PULSAR_CATALOG_STATEMENT", "delete column"),
    (TableChange.renameColumn(Array("a"), "b"), "PULSAR_CATALOG_STATEMENT", "rename column"),
    (TableChange.updateColumnType(Array("a"), LongType), "PULSAR_CATALOG_STATEMENT", "update column type"),
    (TableChange.removeProperty("partitions"), "PULSAR_CATALOG_STATEMENT", "keeps its partitions"),
    (TableChange.removeProperty("schemaType"), "PULSAR_CATALOG_STATEMENT", "keeps its type"),
    (TableChange.setProperty("schemaType", "json"), "PULSAR_CATALOG_STATEMENT", "keeps its type"),
    (TableChange.removeProperty("messageTLL"), "PULSAR_TABLE_PROPERTY", "nearest name is `messageTTL`"),
    (TableChange.setProperty("messageTTL", "3600"), "PULSAR_TABLE_PROPERTY", "with a unit"),
    (TableChange.setProperty("colour", "blue"), "PULSAR_TABLE_PROPERTY", "`colour`"),
    (TableChange.setProperty("partitions", "many"), "PULSAR_TABLE_PROPERTY", "`many`")
  ).foreach { case (change, condition, word) =>
    test(s"refused: $condition $word") {
      val error = intercept[PulsarInputException with PulsarError](Alteration("t", Seq(change)))
      assertEquals(error.condition, condition)
      assert(error.getMessage.contains(word), error.getMessage)
    }
  }
}
