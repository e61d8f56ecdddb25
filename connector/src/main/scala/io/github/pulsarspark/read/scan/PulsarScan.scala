package io.github.pulsarspark.read.scan

import java.util.OptionalLong

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.types.{StructField, StructType}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.metrics.Metrics
import io.github.pulsarspark.options.registry.{RawOptions, Scope}
import io.github.pulsarspark.options.{OnDecodeError, ReadOptions}
import io.github.pulsarspark.read.plan.PushedFilters
import io.github.pulsarspark.read.stream.PulsarMicroBatchStream
import io.github.pulsarspark.read.{PulsarInputPartition, ReadContext}
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.storage.segment.HadoopSettings

/** Plans a read: takes what Spark wants of it, the columns, and in a batch filters and a limit.
  *
  * @param options
  *   as the user gave them; checked when it is known whether the read is a batch or a stream
  * @param columns
  *   what Spark was told the table has
  */
private[pulsarspark] final class PulsarScanBuilder(options: RawOptions, columns: StructType) extends ScanBuilder
    with SupportsPushDownRequiredColumns with SupportsPushDownV2Filters with SupportsPushDownLimit {

  private var wanted             = columns
  private var filters            = PushedFilters.none
  private var limit: Option[Int] = None

  /** Which messages are bad must not depend on the columns a query wants. So all values are decoded in full unless a
    * bad one fails the query.
    */
  override def pruneColumns(required: StructType): Unit = {
    def isMetadata(column: StructField) = MetadataColumns.byName(column.name).isDefined
    wanted =
      if (OnDecodeError.fails(options)) required
      else StructType(columns.fields.filterNot(isMetadata) ++ required.fields.filter(isMetadata))
  }

  /** Spark applies all of them to the rows again. */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = {
    filters = PushedFilters(predicates.toSeq)
    predicates
  }

  override def pushedPredicates(): Array[Predicate] = filters.predicates.toArray

  override def pushLimit(rows: Int): Boolean = {
    limit = Some(rows)
    true
  }

  /** Each task stops at the limit; Spark does so for all of them together. */
  override def isPartiallyPushed: Boolean = true

  override def build(): Scan = new PulsarScan(options, columns, wanted, filters, limit)
}

/** A read that Spark wants nothing more of. */
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
    val made = batch.getOrElse(new PulsarBatch(task(Scope.BatchRead).copy(limit = limit), columns, filters))
    batch = Some(made)
    made
  }

  /** What each task of the batch read reads; decided at the first question, like the read itself. */
  def tasks: Seq[PulsarInputPartition] = theBatch.tasks

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = {
    isStream = true
    new PulsarMicroBatchStream(task(Scope.StreamRead), columns, checkpointLocation)
  }

  private def task(scope: Scope): ReadContext = {
    val checked = ReadOptions(options.check(scope))
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

  /** Spark asks repeatedly; what failed once is not tried again for this. The read itself reports why it fails, and
    * DESCRIBE, which only asks for the size, works.
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
    val said = Seq("topic", "topics", "topicsPattern", "startingOffsets", "endingOffsets", "startingTime",
      "endingTime").flatMap(k =>
      options.get(k).map(v => s"$k=$v")
    )
    val pushed = Option.when(filters.predicates.nonEmpty)(filters.predicates.mkString("filters=[", ", ", "]")) ++
      limit.map(n => s"limit=$n")
    val level = options.get("readLevel").getOrElse("auto").toLowerCase
    val found = batch.flatMap(_.planned).fold("")(read => s" (${read.summary})")
    (Seq(s"PulsarScan readLevel=$level$found") ++ said ++ Seq(output.fieldNames.mkString("columns=[", ", ", "]")) ++
      pushed).mkString(" ")
  }
}

private object PulsarScan {
  private val log = LoggerFactory.getLogger(classOf[PulsarScan])
}
