package io.github.pulsarspark.read

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.metrics.Metrics
import io.github.pulsarspark.options._
import io.github.pulsarspark.storage.HadoopSettings

/** Plans a read: takes the columns that Spark wants.
  *
  * @param options
  *   as the user gave them; checked when it is known whether the read is a batch or a stream
  * @param columns
  *   what Spark was told the table has
  */
private[pulsarspark] final class PulsarScanBuilder(options: RawOptions, columns: StructType) extends ScanBuilder
    with SupportsPushDownRequiredColumns {

  private var wanted = columns

  override def pruneColumns(required: StructType): Unit = wanted = required

  override def build(): Scan = new PulsarScan(options, columns, wanted)
}

/** A read whose columns are known. */
private[pulsarspark] final class PulsarScan(options: RawOptions, columns: StructType, output: StructType) extends Scan {

  override def readSchema(): StructType = output

  private lazy val batch = new PulsarBatch(task(Scope.BatchRead), columns)

  override def toBatch: Batch = batch

  /** What each task of the batch read reads; decided at the first question, like the read itself. */
  def tasks: Seq[PulsarInputPartition] = batch.tasks

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    new PulsarMicroBatchStream(task(Scope.StreamRead), columns, checkpointLocation)

  private def task(scope: Scope): ReadTask = {
    val checked = ReadOptions(options.check(scope))
    val hadoop  =
      if (checked.readLevel == ReadLevel.Broker || checked.client.adminUrl.isEmpty) HadoopSettings.none
      else HadoopSettings.of(SparkSession.active.sparkContext.hadoopConfiguration)
    ReadTask(output, checked, hadoop)
  }

  override def columnarSupportMode(): Scan.ColumnarSupportMode = Scan.ColumnarSupportMode.UNSUPPORTED

  override def supportedCustomMetrics(): Array[CustomMetric] = Metrics.ofReads

  override def description(): String = {
    val said = Seq("topic", "topics", "topicsPattern", "startingOffsets", "endingOffsets", "startingTime", "endingTime").flatMap(k =>
      options.get(k).map(v => s"$k=$v")
    )
    val level = options.get("readLevel").getOrElse("auto").toLowerCase
    s"PulsarScan readLevel=$level${batch.summary.fold("")(s => s" ($s)")} ${said.mkString(" ")} columns=${output.fieldNames.mkString("[", ", ", "]")}"
  }
}
