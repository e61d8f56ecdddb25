package io.github.pulsarspark.inspect

import java.util.{EnumSet, Set => JSet}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{SupportsRead, SupportsWrite, TableCapability, TruncatableTable}
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.{LocalScan, Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.common.Slots
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataView}
import io.github.pulsarspark.options.registry.RawOptions

/** A [[MetadataView]] as a table. The driver requests the rows when Spark plans a query, also for `EXPLAIN`; there is
  * no job. It has capabilities of streams and writes so that they are refused in words.
  *
  * @param name
  *   shown in plans and errors
  * @param options
  *   of a query, together with those of the table
  */
private[pulsarspark] final class MetadataTable(
    view: MetadataView,
    override val name: String,
    options: CaseInsensitiveStringMap => RawOptions
) extends SupportsRead with SupportsWrite with TruncatableTable {

  override def schema(): StructType = view.columns

  override def capabilities(): JSet[TableCapability] = EnumSet.of(
    TableCapability.BATCH_READ,
    TableCapability.MICRO_BATCH_READ,
    TableCapability.BATCH_WRITE,
    TableCapability.STREAMING_WRITE,
    TableCapability.TRUNCATE,
    TableCapability.ACCEPT_ANY_SCHEMA
  )

  override def newScanBuilder(query: CaseInsensitiveStringMap): ScanBuilder =
    new MetadataScanBuilder(view, name, options(query))

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = throw readOnly

  override def truncateTable(): Boolean = throw readOnly

  private def readOnly = Conditions.MetadataReadOnly(table = name, use = "be written to").exception
}

private final class MetadataScanBuilder(view: MetadataView, name: String, options: RawOptions) extends ScanBuilder
    with SupportsPushDownRequiredColumns {

  private var output = view.columns

  override def pruneColumns(required: StructType): Unit = output = required

  override def build(): Scan = new MetadataScan(view, name, options, output)
}

private final class MetadataScan(view: MetadataView, name: String, options: RawOptions, output: StructType)
    extends LocalScan {

  override def readSchema(): StructType = output

  /** Spark may ask repeatedly; a query has one answer. */
  private lazy val result: Array[InternalRow] = {
    val (_, checked) = MetadataViews.checked(view.name, options)
    val context      = SparkSession.active.sparkContext
    val request      =
      new MetadataRequest(checked, output.fieldNames.toSet, context.hadoopConfiguration, Slots.of(context))
    val places = output.fieldNames.map(view.columns.fieldIndex)
    view.rows(request).map(row => InternalRow.fromSeq(places.toSeq.map(i => row.get(i, view.columns(i).dataType))))
      .toArray
  }

  override def rows(): Array[InternalRow] = result

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    throw Conditions.MetadataReadOnly(table = name, use = "be read as a stream").exception

  override def description(): String = s"$name ${output.fieldNames.mkString("columns=[", ", ", "]")}"
}
