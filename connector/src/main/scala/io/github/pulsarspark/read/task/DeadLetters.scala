package io.github.pulsarspark.read.task

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, HashMap => JHashMap, Map => JMap}

import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.options.{OnDecodeError, ReadOptions, WriteOptions}
import io.github.pulsarspark.pulsar.TopicNames
import io.github.pulsarspark.pulsar.connection.ClientPool
import io.github.pulsarspark.pulsar.producer.TopicProducer
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Copies messages to a topic as they are, with properties that tell where each came from and why. */
private[read] final class DeadLetters(topic: String, options: ReadOptions) extends AutoCloseable {
  import DeadLetters._

  private val lease    = ClientPool.acquire(options.client)
  private val producer =
    try TopicProducer.open(lease, TopicNames.full(topic), TopicSchema.Bytes, WriteOptions.ofCopies(options))
    catch { case e: Throwable => lease.close(); throw e }
  private val copy = new OutgoingMessage

  def send(m: MessageView, error: Throwable with PulsarError): Unit = {
    copy.value = if (m.valueIsNull) null else Arrays.copyOfRange(m.bytes, m.valueOffset, m.valueOffset + m.valueLength)
    copy.key = if (m.keyLength < 0) null else Arrays.copyOfRange(m.keyBytes, m.keyOffset, m.keyOffset + m.keyLength)
    copy.keyIsBytes = m.keyIsBytes
    copy.eventTime = m.eventTime
    copy.orderingKey = m.orderingKey
    copy.properties = properties(m, error)
    producer.send(copy)
  }

  /** Waits until every copy is acknowledged. */
  def flush(): Unit = producer.flush()

  override def close(): Unit =
    try producer.close()
    finally lease.close()
}

private[read] object DeadLetters {

  private val Origins = Seq("topic", "position", "version")

  /** A read that also reads its dead letters would never come to an end. */
  def check(options: ReadOptions): Unit = options.onDecodeError match {
    case OnDecodeError.DeadLetter(topic) if TopicNames.includes(options.topics, topic) =>
      throw Conditions.OptionInvalid(option = "dlqTopic", value = topic,
        allowed = "a topic that the query does not read").exception
    case _ => ()
  }

  /** The message's own, and where it was. */
  private def properties(m: MessageView, error: Throwable with PulsarError): JMap[String, String] = {
    val result        = new JHashMap[String, String]
    def text(at: Int) = new String(m.propertyBytes, m.propertyRanges(at), m.propertyRanges(at + 1), UTF_8)
    (0 until m.propertyCount).foreach(i => result.put(text(4 * i), text(4 * i + 2)))
    Origins.foreach(name => result.put(s"pulsarspark.$name", error.parameters(name)))
    result.put("pulsarspark.error", error.getMessage)
    result
  }
}
