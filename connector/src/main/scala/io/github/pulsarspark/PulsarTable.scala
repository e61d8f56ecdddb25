package io.github.pulsarspark

import java.util.{EnumSet, Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.{MetadataColumn, SupportsMetadataColumns, SupportsRead, SupportsWrite, TableCapability}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.errors.PulsarErrors
import io.github.pulsarspark.options.registry.RawOptions
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.read.scan.PulsarScanBuilder
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.write.PulsarWriteBuilder

/** One or more topics as a table.
  *
  * @param columns
  *   as read from the topics, as the user gave them for a read, or those of the rows to write
  * @param definition
  *   the properties of a table in Spark's catalog; else the options of the read or write together with those of the
  *   session
  * @param session
  *   the options of the session alone
  */
private[pulsarspark] final class PulsarTable(
    columns: StructType,
    definition: JMap[String, String],
    session: Map[String, String]
) extends SupportsRead with SupportsWrite with SupportsMetadataColumns {

  private val stored = TableProperties.storedOptions(definition)

  override def name(): String = "pulsar"

  override def schema(): StructType = columns

  override def capabilities(): JSet[TableCapability] = EnumSet.of(
    TableCapability.BATCH_READ,
    TableCapability.MICRO_BATCH_READ,
    TableCapability.BATCH_WRITE,
    TableCapability.STREAMING_WRITE,
    TableCapability.TRUNCATE, // refused by the write builder, with a better text than Spark's
    TableCapability.ACCEPT_ANY_SCHEMA
  )

  override def metadataColumns(): Array[MetadataColumn] =
    MetadataColumns.all.filterNot(c => columns.fieldNames.contains(c.name)).map(c =>
      PulsarMetadataColumn(c.name, c.dataType, c.comment)
    ).toArray

  override def properties(): JMap[String, String] = TableProperties.shown(definition)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    new PulsarScanBuilder(raw(options), columns)

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = {
    if (stored.isDefined) checkNames(info.schema)
    new PulsarWriteBuilder(raw(info.options), info.schema)
  }

  /** Spark leaves the columns of a write as they are, because the table takes any, so values without a name of their
    * own arrive as `col1`, `col2`.
    */
  private def checkNames(input: StructType): Unit =
    input.fieldNames.filterNot(columns.fieldNames.contains(_)).find(MetadataColumns.writable(_).isEmpty).foreach {
      name =>
        throw PulsarErrors("PULSAR_TABLE_COLUMN_UNKNOWN", "column" -> name,
          "columns"                                                -> columns.fieldNames.mkString(", "))
    }

  private def raw(options: CaseInsensitiveStringMap) = {
    /* Depending on its line, Spark passes a write into a temporary view or of a stream fewer options than it made the
     * table with. */
    val made = if (stored.isDefined) Map.empty[String, String] else definition.asScala.toMap
    new RawOptions(
      made.filterNot(o => options.containsKey(o._1)) ++ options.asCaseSensitiveMap().asScala,
      ClientSettings.fields,
      session,
      stored
    )
  }
}

/** A hidden column, as Spark wants it described. */
private final case class PulsarMetadataColumn(name: String, dataType: DataType, override val comment: String)
    extends MetadataColumn
