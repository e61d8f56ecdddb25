package io.github.pulsarspark.read.task

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, HashMap => JHashMap, Map => JMap}

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.options.{ReadOptions, WriteOptions}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.schema.{SchemaVersions, TopicSchema}
import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Copies messages to a topic as they are, with properties that name their origin and the error. */
private[read] final class DeadLetters(topic: String, options: ReadOptions) extends AutoCloseable {
  import DeadLetters._

  private val connection = PulsarConnection(options.client)
  private val producer   =
    try connection.producer(TopicNames.full(topic), TopicSchema.Bytes, WriteOptions.ofCopies(options))
    catch { case e: Throwable => connection.close(); throw e }
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
    finally connection.close()
}

private[read] object DeadLetters {

  private val Origins = Seq("topic", "position")

  /** The message's own properties, its origin and the error. */
  private def properties(m: MessageView, error: Throwable with PulsarError): JMap[String, String] = {
    val result        = new JHashMap[String, String]
    def text(at: Int) = new String(m.propertyBytes, m.propertyRanges(at), m.propertyRanges(at + 1), UTF_8)
    (0 until m.propertyCount).foreach(i => result.put(text(4 * i), text(4 * i + 2)))
    Origins.foreach(name => result.put(s"pulsarspark.$name", error.parameters(name)))
    result.put("pulsarspark.version", SchemaVersions.text(m.schemaVersion))
    result.put("pulsarspark.error", error.getMessage)
    result
  }
}
