package io.github.pulsarspark

import java.util.{EnumSet, Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.{MetadataColumn, SupportsMetadataColumns, SupportsRead, SupportsWrite, TableCapability}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.client.ClientSettings
import io.github.pulsarspark.options.RawOptions
import io.github.pulsarspark.read.PulsarScanBuilder
import io.github.pulsarspark.schema.MetadataColumns
import io.github.pulsarspark.write.PulsarWriteBuilder

/** One or more topics as a table.
  *
  * @param columns
  *   as read from the topics, as the user gave them for a read, or those of the rows to write
  * @param properties
  *   the options of the read or write together with those of the session
  * @param session
  *   the options of the session alone
  */
private[pulsarspark] final class PulsarTable(columns: StructType, properties: JMap[String, String], session: Map[String, String])
    extends SupportsRead with SupportsWrite with SupportsMetadataColumns {

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
    MetadataColumns.hidden.filterNot(c => columns.fieldNames.contains(c.name)).map(c =>
      PulsarMetadataColumn(c.name, c.dataType, c.doc)
    ).toArray

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = new PulsarScanBuilder(raw(options), columns)

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new PulsarWriteBuilder(raw(withSession(info.options)), info.schema)

  /** Spark leaves the options of the session out of those it hands to a streaming write. */
  private def withSession(options: CaseInsensitiveStringMap): CaseInsensitiveStringMap =
    new CaseInsensitiveStringMap((properties.asScala.filterNot(p => options.containsKey(p._1)) ++
      options.asCaseSensitiveMap.asScala).asJava)

  private def raw(options: CaseInsensitiveStringMap) = new RawOptions(options.asCaseSensitiveMap(), ClientSettings.fields, session)
}

/** A hidden column, as Spark wants it described. */
private final case class PulsarMetadataColumn(name: String, dataType: DataType, override val comment: String) extends MetadataColumn
