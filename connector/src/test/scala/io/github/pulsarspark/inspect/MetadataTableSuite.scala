package io.github.pulsarspark.inspect

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{LocalScan, Scan, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.options.registry.RawOptions
import io.github.pulsarspark.{LocalSpark, UnitSuite}

/** A metadata table as Spark reads it. */
class MetadataTableSuite extends UnitSuite with LocalSpark {

  /** A table of one row, by the name of another, that keeps what it is asked. */
  private final class View extends MetadataView {
    val asked: mutable.Buffer[MetadataRequest] = mutable.Buffer.empty

    override def name: String                          = "partitions"
    override def columns: StructType                   = StructType.fromDDL("topic string, n int, m int")
    override def takes: TakenOptions                   = TakenOptions.OfTopics
    override def check(options: MetadataOptions): Unit = ()
    override def rows(request: MetadataRequest): Iterator[InternalRow] = {
      asked += request
      Iterator(InternalRow(UTF8String.fromString("t"), 1, 2))
    }
  }

  private def table(view: View, set: (String, String)*) = new MetadataTable(view, "pulsar.partitions",
    _ =>
      new RawOptions(Map("metadata" -> "partitions", "service.url" -> "pulsar://h:1", "topic" -> "t") ++ set, _ => Nil))

  private def condition(body: => Any): String = intercept[RuntimeException with PulsarError](body).condition

  private val none = CaseInsensitiveStringMap.empty

  /** The scan of these columns; of all of them if none is named. */
  private def scan(table: MetadataTable, columns: String*): Scan = {
    val builder = table.newScanBuilder(none)
    builder match {
      case pruning: SupportsPushDownRequiredColumns if columns.nonEmpty =>
        pruning.pruneColumns(StructType(columns.map(table.schema().apply(_))))
      case _ => ()
    }
    builder.build()
  }

  private def rows(scan: Scan): Seq[InternalRow] = scan match {
    case local: LocalScan => local.rows().toSeq
    case other            => fail(other.toString)
  }

  test("a query has the columns that it selects, in its order, and the view learns which ones these are") {
    for (
      (columns, row) <- Seq(
        Nil               -> InternalRow(UTF8String.fromString("t"), 1, 2),
        Seq("m")          -> InternalRow(2),
        Seq("m", "topic") -> InternalRow(2, UTF8String.fromString("t"))
      )
    ) {
      val view  = new View
      val found = scan(table(view), columns: _*)
      assertEquals(rows(found), Seq(row))
      val shown = if (columns.isEmpty) view.columns.fieldNames.toSeq else columns
      assertEquals(found.readSchema().fieldNames.toSeq, shown)
      assertEquals(view.columns.fieldNames.filter(n => view.asked.head.uses(n)).toSet, shown.toSet)
    }
  }

  test("a query has one answer, however often Spark asks") {
    val view = new View
    val one  = scan(table(view))
    assertEquals(rows(one), rows(one))
    assertEquals(view.asked.size, 1)
  }

  test("an option without an effect is refused when the rows are requested") {
    val view = new View
    assertEquals(condition(rows(scan(table(view, "readLevel" -> "broker")))), "PULSAR_METADATA_OPTION")
    assertEquals(view.asked.size, 0)
  }

  test("a table is read in batches, and nothing else is done with it") {
    val refused  = table(new View)
    val readOnly = "PULSAR_METADATA_READ_ONLY"
    assertEquals(condition(scan(refused).toMicroBatchStream("/c")), readOnly)
    assertEquals(condition(refused.newWriteBuilder(null)), readOnly)
    assertEquals(condition(refused.truncateTable()), readOnly)
  }
}
