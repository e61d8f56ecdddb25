package io.github.pulsarspark

import java.util.{EnumSet, Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.{MetadataColumn, SupportsMetadataColumns, SupportsWrite, TableCapability, TruncatableTable}
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.SessionOptions
import io.github.pulsarspark.options.registry.TranslationWarning
import io.github.pulsarspark.read.{MessageTable, PulsarScanBuilder}
import io.github.pulsarspark.schema.columns.{ColumnNames, MetadataColumns, Nullability}
import io.github.pulsarspark.write.exactlyonce.SinkRun
import io.github.pulsarspark.write.{CheckedWrite, PulsarWriteBuilder, TableColumns}

/** One or more topics as a table.
  *
  * @param columns
  *   as read from the topics, as the user gave them for a read, or those of the rows to write
  * @param definition
  *   the properties of a table in Spark's catalog; else the options of the read or write together with those of the
  *   session
  * @param session
  *   the options of the session alone, or of the table's own catalog
  * @param facts
  *   about a table of [[catalog.PulsarCatalog]]
  */
private[pulsarspark] final class PulsarTable(
    columns: StructType,
    definition: JMap[String, String],
    session: Map[String, String],
    facts: Option[TopicFacts] = None
) extends MessageTable with SupportsWrite with SupportsMetadataColumns with TruncatableTable with ReportsSinkMetrics {

  /** The topics as they are named, which Spark shows in plans, errors and the sink of a stream. */
  override def name(): String = {
    val options = raw(CaseInsensitiveStringMap.empty)
    Seq("topic", "topics", "topicsPattern").flatMap(options.get).headOption.getOrElse(SessionOptions.Name)
  }

  override def toString: String = s"PulsarTable(${name()})"

  /** All columns are nullable, whatever the user or a table's definition declares. */
  override def schema(): StructType = rows

  private val rows = Nullability.relaxed(columns)

  override def capabilities(): JSet[TableCapability] =
    if (facts.exists(_.asOf.isDefined)) EnumSet.of(TableCapability.BATCH_READ)
    else
      EnumSet.of(
        TableCapability.BATCH_READ,
        TableCapability.MICRO_BATCH_READ,
        TableCapability.BATCH_WRITE,
        TableCapability.STREAMING_WRITE,
        TableCapability.TRUNCATE, // refused by the write builder, with a better text than Spark's
        TableCapability.ACCEPT_ANY_SCHEMA
      )

  override def metadataColumns(): Array[MetadataColumn] =
    MetadataColumns.besides(columns, MetadataColumns.all, SessionOptions.isCaseSensitive).map(c =>
      PulsarMetadataColumn(c.name, c.dataType, c.comment)
    ).toArray

  override def properties(): JMap[String, String] = facts.fold(TableProperties.shown(definition))(_.properties)

  override def newScanBuilder(options: CaseInsensitiveStringMap): PulsarScanBuilder = {
    facts.foreach(_.checkEnd(name(), options))
    ColumnNames.checkRead(name(), rows, SessionOptions.isCaseSensitive)
    new PulsarScanBuilder(raw(options), rows)
  }

  private val checkedWrite = new CheckedWrite
  private val sinkRun      = new SinkRun

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = newWriteBuilder(info, None)

  /** @param producerPrefix
    *   start of the names of all producers of a batch
    */
  def newWriteBuilder(info: LogicalWriteInfo, producerPrefix: Option[String]): WriteBuilder =
    new PulsarWriteBuilder(raw(info.options), info.schema, written(info.schema), checkedWrite, info.queryId, sinkRun,
      producerPrefix)

  /** The columns for the rows of a write into a table or a view; None for one that brings its own columns. */
  private def written(rows: StructType): Option[TableColumns] =
    Option.when(TableProperties.storedOptions(definition).isDefined || !columns.names.sameElements(rows.names))(
      new TableColumns(columns, SessionOptions.isCaseSensitive)
    )

  /** Refuses `TRUNCATE TABLE`, and `DELETE` of all rows, with a text of our own. */
  override def truncateTable(): Boolean = throw Conditions.CatalogStatement(
    statement = s"Deleting all rows of ${name()}",
    why = "messages can be added to a topic, but not deleted",
    instead = "Let a retention policy delete old messages, or write to a new topic"
  ).exception

  /** Metrics of an exactly-once sink since the start of its stream, for the progress of the query. */
  override def metrics(): JMap[String, String] = sinkRun.metrics.asJava

  private val warning = TranslationWarning()

  private def raw(query: CaseInsensitiveStringMap) = TableProperties.rawOptions(definition, session, query, warning)
}

/** A hidden column, in Spark's terms. */
private final case class PulsarMetadataColumn(name: String, dataType: DataType, override val comment: String)
    extends MetadataColumn
