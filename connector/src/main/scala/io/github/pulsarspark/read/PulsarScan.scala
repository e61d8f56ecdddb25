package io.github.pulsarspark.read

import java.util.OptionalLong

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.types.{StructField, StructType, TimestampType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.slf4j.LoggerFactory

import io.github.pulsarspark.metrics.Metrics
import io.github.pulsarspark.options.registry.{RawOptions, Scope}
import io.github.pulsarspark.options.{OnDecodeError, ReadOptions}
import io.github.pulsarspark.read.plan.{PulsarBatch, PushedFilters}
import io.github.pulsarspark.read.task.{PulsarInputPartition, ReadContext}
import io.github.pulsarspark.schema.columns.{FieldNames, MetadataColumns}
import io.github.pulsarspark.storage.segment.HadoopSettings

/** A table of messages, whose reads can be looked at before they run. */
private[pulsarspark] trait MessageTable extends SupportsRead {
  override def newScanBuilder(options: CaseInsensitiveStringMap): PulsarScanBuilder
}

/** Takes what Spark pushes into a read: columns, and in a batch filters and a limit.
  *
  * @param options
  *   of the user; checked when Spark decides between batch and stream
  * @param columns
  *   the table's columns as Spark knows them
  */
private[pulsarspark] final class PulsarScanBuilder(options: RawOptions, columns: StructType) extends ScanBuilder
    with SupportsPushDownRequiredColumns with SupportsPushDownV2Filters with SupportsPushDownLimit {

  private var output             = columns
  private var filters            = PushedFilters.none
  private var limit: Option[Int] = None

  /** Prunes columns, but keeps all value columns and times unless a decode error fails the query: which messages fail
    * to decode must not depend on the columns of a query.
    */
  override def pruneColumns(required: StructType): Unit = {
    def mayFail(column: StructField) = MetadataColumns.of(column).forall(_.dataType == TimestampType)
    def isShown(column: StructField) = columns.fieldNames.contains(column.name)
    output =
      if (OnDecodeError.fails(options))
        StructType(required.fields.map(f => if (isField(f.name)) FieldNames.marked(f) else f))
      else // in the table's order, in which streams take them
        StructType(
          columns.fields.filter(f => mayFail(f) || required.fieldNames.contains(f.name)) ++
            required.fields.filterNot(isShown)
        )
  }

  /** Spark applies all of them to the rows again. */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = {
    filters = PushedFilters(predicates.toSeq.filterNot(_.references.exists(r => isField(r.fieldNames.head))))
    predicates
  }

  /** True if a column with the name of a metadata column is a field of values. */
  private def isField(name: String) = columns.fields.exists(c => c.name == name && FieldNames.isMarked(c))

  override def pushedPredicates(): Array[Predicate] = filters.predicates.toArray

  override def pushLimit(rows: Int): Boolean = {
    limit = Some(rows)
    true
  }

  /** True: each task stops at the limit, and Spark applies it to all of them together. */
  override def isPartiallyPushed: Boolean = true

  override def build(): PulsarScan = new PulsarScan(options, columns, output, filters, limit)
}

/** A read after all push-downs. */
private[pulsarspark] final class PulsarScan(
    options: RawOptions,
    columns: StructType,
    output: StructType,
    filters: PushedFilters,
    limit: Option[Int]
) extends Scan with SupportsReportStatistics {

  private var batch: Option[PulsarBatch] = None
  private var isStream                   = false

  override def readSchema(): StructType = output

  override def toBatch: Batch = theBatch

  private def theBatch: PulsarBatch = synchronized {
    val result = batch.getOrElse(new PulsarBatch(task(Scope.BatchRead).copy(limit = limit), columns, filters))
    batch = Some(result)
    result
  }

  /** Partitions of the batch read; planned at the first call, like the read itself. */
  def tasks: Seq[PulsarInputPartition] = theBatch.tasks

  /** Options of the read as a stream; fails if one is wrong. */
  def streamOptions: ReadOptions = ReadOptions(options, Scope.StreamRead)

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = {
    isStream = true
    RealTimeMode.stream(task(Scope.StreamRead), columns, checkpointLocation)
  }

  private def task(scope: Scope): ReadContext = {
    val checked = ReadOptions(options, scope)
    val hadoop  =
      if (checked.mayReadSegments) HadoopSettings.of(SparkSession.active.sparkContext.hadoopConfiguration)
      else HadoopSettings.none
    ReadContext(output, checked, hadoop)
  }

  override def columnarSupportMode(): Scan.ColumnarSupportMode = Scan.ColumnarSupportMode.UNSUPPORTED

  override def estimateStatistics(): Statistics = new Statistics {
    override def sizeInBytes: OptionalLong =
      if (isStream) OptionalLong.empty else size.fold(OptionalLong.empty)(OptionalLong.of)
    override def numRows: OptionalLong = OptionalLong.empty
  }

  /** Spark requests the size repeatedly; a plan that failed is not tried again for it. The read itself reports why it
    * fails, and DESCRIBE, which requests only the size, works.
    */
  private lazy val size: Option[Long] =
    try theBatch.bytes
    catch {
      case NonFatal(e) =>
        PulsarScan.log.info("The size of a read is not known: {}", e.getMessage)
        None
    }

  override def supportedCustomMetrics(): Array[CustomMetric] = Metrics.ofReads

  override def reportDriverMetrics(): Array[CustomTaskMetric] = batch.flatMap(_.planned).toArray.flatMap(Metrics.ofPlan)

  override def description(): String = {
    val selection = Seq("topic", "topics", "topicsPattern", "startingOffsets", "endingOffsets", "startingTime",
      "endingTime").flatMap(k =>
      options.get(k).map(v => s"$k=$v")
    )
    val pushed = Option.when(filters.predicates.nonEmpty)(filters.predicates.mkString("filters=[", ", ", "]")) ++
      limit.map(n => s"limit=$n")
    val level = options.get("readLevel").getOrElse("auto").toLowerCase
    val plan  = batch.flatMap(_.planned).fold("")(read => s" (${read.summary})")
    (Seq(s"PulsarScan readLevel=$level$plan") ++ selection ++ Seq(output.fieldNames.mkString("columns=[", ", ", "]")) ++
      pushed).mkString(" ")
  }
}

private object PulsarScan {
  private val log = LoggerFactory.getLogger(classOf[PulsarScan])
}
