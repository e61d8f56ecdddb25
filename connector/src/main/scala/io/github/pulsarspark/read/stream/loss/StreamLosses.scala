package io.github.pulsarspark.read.stream.loss

import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.{DataLossPolicy, LostRanges, Occurrence}
import io.github.pulsarspark.metrics.TaskTotals

/** The losses of a stream, found by its driver and its tasks. They are kept under the checkpoint.
  *
  * @param checkpoint
  *   the folder Spark gives this source
  * @param background
  *   writes what a task found, so that a slow file system does not delay Spark's scheduler for long
  */
private[stream] final class StreamLosses(failOnDataLoss: Boolean, checkpoint: String, background: BlockingParallel) {
  import StreamLosses._

  /** Decides about the losses that the driver finds. */
  val policy: DataLossPolicy = new DataLossPolicy(failOnDataLoss)

  private lazy val log = new LossLog(checkpoint, SparkSession.active.sparkContext.hadoopConfiguration)

  /** Counts of the stream's tasks. */
  lazy val totals: TaskTotals = {
    val _ = log // while this thread has a session
    TaskTotals.register(SparkSession.active.sparkContext, () => keepAtOnce())
  }

  /** All losses since the query started. */
  def found: LostRanges = policy.lost ++ totals.lostRanges

  /** Fails, or counts the loss. */
  def report(loss: Occurrence): Unit = policy.report(loss)

  /** Keeps the losses that were found since the last call. */
  def keep(): Unit = log.keep(policy.lost, totals.lostRanges)

  /** A task found a loss. It is kept before Spark commits the micro-batch: a driver that starts after that would not
    * find it any more.
    */
  private def keepAtOnce(): Unit =
    try background.start(() => keep()).get(SchedulerPatience.toMillis, TimeUnit.MILLISECONDS)
    catch { case NonFatal(e) => logger.warn("a loss is kept later: {}", e.toString) }
}

private object StreamLosses {
  private val logger = LoggerFactory.getLogger(classOf[StreamLosses])

  private val SchedulerPatience = 2.seconds
}
