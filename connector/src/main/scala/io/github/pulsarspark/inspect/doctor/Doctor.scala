package io.github.pulsarspark.inspect.doctor

import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.options.{ClientOptions, ReadOptions, WriteOptions}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.storage.segment.HadoopSettings

/** Examines the way from this JVM to the messages of topics, hop by hop. Reads one entry from each kind of storage,
  * writes none, and leaves nothing on the server.
  */
private[inspect] object Doctor {

  /** Time beyond that of a request, in which the request itself should fail, with a better text. */
  private val Grace = 8.seconds

  /** Steps that may exceed their time before the others are left out. */
  private val SlowSteps = 6

  /** @param read
    *   options of a read, with or without topics. `operationTimeoutMs` bounds each request of a step.
    * @param write
    *   options of a write, where the right to produce is to be tried
    */
  def apply(read: ReadOptions, write: Option[WriteOptions], hadoop: HadoopSettings): Seq[Step] =
    Using.resource(new OpenOnce(read.client)) { connection =>
      val patience = read.client.operationTimeout + Grace
      val options  = read.copy(pollTimeout = read.pollTimeout min read.client.operationTimeout)
      new Examination(read.client.serviceUrl, patience, patience * SlowSteps)(
        checks(options, write, hadoop, connection.get _)
      )
    }

  private def checks(
      options: ReadOptions,
      write: Option[WriteOptions],
      hadoop: HadoopSettings,
      connection: () => PulsarConnection
  ): Seq[Check] = {
    val brokers = new BrokerChecks(connection, options, write)
    val admin   = new AdminChecks(connection, options, () => brokers.topics)
    val storage = new StorageChecks(connection, options, hadoop, () => brokers.topics.values.flatten.toSeq)
    new NetworkChecks(options.client).all ++ (new LoginCheck(connection, options.client).check +: brokers.all) ++
      admin.all ++ storage.all :+
      new VersionsCheck(io.github.pulsarspark.BuildInfo.version, io.github.pulsarspark.BuildInfo.pulsarVersion).check
  }

  /** A connection that the first step that needs it opens. One that is still being opened is not waited for. */
  private final class OpenOnce(client: ClientOptions) extends AutoCloseable {
    private val opened          = new AtomicReference[Option[PulsarConnection]](None)
    private lazy val connection = {
      val result = PulsarConnection(client)
      opened.set(Some(result))
      result
    }

    def get(): PulsarConnection = connection

    override def close(): Unit = opened.get.foreach(_.close())
  }
}
