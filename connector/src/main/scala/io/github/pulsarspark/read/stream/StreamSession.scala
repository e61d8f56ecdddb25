package io.github.pulsarspark.read.stream

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.position.OffsetRange
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.broker.{BrokerApi, MarkedMessages}
import io.github.pulsarspark.read.plan.{Discovery, DriverSession, TaskSchemas}
import io.github.pulsarspark.read.task.ReadContext
import io.github.pulsarspark.storage.StreamStorage

/** The cluster as a stream has it, from the first use to the end of the stream: requests to brokers, the schemas that
  * topics are read with, the storage of their partitions, and the subscription that follows the stream.
  *
  * @param columns
  *   the table's columns as Spark knows them
  * @param checkpoint
  *   the folder of this source under the query's checkpoint
  */
private[stream] final class StreamSession(
    task: ReadContext,
    columns: StructType,
    checkpoint: String,
    losses: DataLossPolicy
) extends AutoCloseable {

  private var opened: Option[DriverSession] = None

  private lazy val progress = task.options.progressSubscription.map(driver.connection.progress)

  /** Schemas of the stream's topics. */
  val schemas: ReaderSchemas =
    new ReaderSchemas((topics, known) => driver.schemas(topics, columns, task.output, known))

  /** The progress subscription; None unless the options name one. */
  lazy val subscription: Option[StreamSubscription] =
    progress.map(StreamSubscription(_, broker, task.options, checkpoint, hadoop))

  /** Storage of the topic partitions. */
  lazy val storage: StreamStorage = new StreamStorage(admin, task.options, task.hadoop, losses)

  /** Messages by which the cluster is known. */
  lazy val marked: MarkedMessages =
    new MarkedMessages(task.options, driver.connection.broker(task.options.subscriptionPrefix))

  def broker: BrokerApi        = driver.broker
  def admin: Option[AdminApi]  = driver.admin
  def discovery: Discovery     = driver.discovery
  def taskSchemas: TaskSchemas = driver.taskSchemas

  /** The ranges, which start no earlier than what brokers keep of them. */
  def kept(ranges: Seq[OffsetRange]): Seq[OffsetRange] = subscription.fold(ranges)(_.kept(ranges))

  /** Settings of the file system with the checkpoint. */
  def hadoop: Configuration = SparkSession.active.sparkContext.hadoopConfiguration

  private def driver: DriverSession = opened.getOrElse {
    val result = DriverSession(task.options)
    opened = Some(result)
    // The next start needs these schemas, also when no message arrives before.
    if (task.options.schemaTrackingLocation.isDefined) schemas.add(result.discovery.topicsLeft().keys)
    result
  }

  /** Ends all that was opened. */
  override def close(): Unit = {
    val closing = opened
    try closing.foreach(_ => progress.foreach(_.close()))
    finally {
      closing.foreach(_.close())
      opened = None
    }
  }
}
