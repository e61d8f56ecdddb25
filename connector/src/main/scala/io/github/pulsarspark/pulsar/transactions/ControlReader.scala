package io.github.pulsarspark.pulsar.transactions

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeUnit

import scala.annotation.tailrec
import scala.concurrent.duration.FiniteDuration

import org.apache.pulsar.client.api.{Message, Reader}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** Reads the records of a control topic, as far as they are committed. Fails for records that another cluster wrote and
  * replicated: the transactions that they name are not those of this cluster with the same ids.
  */
private[pulsarspark] final class ControlReader private[transactions] (
    reader: Reader[Array[Byte]],
    calls: ClusterCalls
) extends AutoCloseable {
  import ControlReader._

  /** The records up to the end as it is now, each with its id, `ledger:entry`. */
  def toEnd(): Seq[(String, String)] = {
    val all = Seq.newBuilder[(String, String)]
    while (calls.askByConsumer(Reading)(() => reader.hasMessageAvailableAsync)) all += next()
    all.result()
  }

  private def next(): (String, String) = pair(calls.await(Reading)(reader.readNextAsync()))

  private def pair(message: Message[Array[Byte]]): (String, String) = {
    if (message.isReplicated)
      throw Conditions.SinkOfAnotherCluster(topic = message.getTopicName, cluster = message.getReplicatedFrom).exception
    RecordId.text(message.getMessageId) -> new String(message.getValue, UTF_8)
  }

  /** The records up to the first that `isLast`; None when that does not arrive in time. */
  def until(patience: FiniteDuration)(isLast: String => Boolean): Option[Seq[(String, String)]] = {
    val deadline = System.nanoTime() + patience.toNanos

    @tailrec
    def more(before: Vector[(String, String)]): Option[Seq[(String, String)]] = {
      val left  = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())
      val found =
        if (left > 0) calls.blocking(Reading)(Option(reader.readNext(left.toInt, TimeUnit.MILLISECONDS))) else None
      found match {
        case None          => None
        case Some(message) =>
          val record = pair(message)
          if (isLast(record._2)) Some(before :+ record) else more(before :+ record)
      }
    }
    more(Vector.empty)
  }

  override def close(): Unit = { reader.closeAsync(); () }
}

private object ControlReader {
  private val Reading = "Reading the state of a sink"
}
