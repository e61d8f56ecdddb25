package io.github.pulsarspark.pulsar.schemas

import java.nio.ByteBuffer
import java.util.{LinkedHashMap => JLinkedHashMap}

import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.schema.TopicSchema

/** Schema versions that this JVM has fetched. A version of a topic never changes, but a topic that is deleted and
  * created again counts its versions from the start again. The ledger of a message tells both apart: the cluster
  * numbers ledgers in their order, so a topic created again has higher ones. A version that was fetched for a ledger
  * holds for it and for lower ledgers, and is fetched again for a higher one. Failures are not kept.
  *
  * @param mostChars
  *   size of all definitions together, above which the least recently used are dropped
  */
private[pulsarspark] final class KnownSchemas(mostChars: Long) {
  import KnownSchemas._

  private val entries = new JLinkedHashMap[Key, Known](16, 0.75f, true)
  private var chars   = 0L

  /** The schema of a version; `fetch` is called unless it is known, and may be called by several threads for the same
    * version.
    *
    * @param topic
    *   a topic or one of its partitions, which share their versions
    * @param ledgerId
    *   of the message with this version, or any higher one that the topic had when the read was planned
    */
  def at(
      client: ClientOptions,
      topic: String,
      version: Array[Byte],
      ledgerId: Long
  )(fetch: => TopicSchema): TopicSchema = {
    val key = Key(client, TopicNames.whole(topic), ByteBuffer.wrap(version.clone))
    get(key).filter(_.throughLedger >= ledgerId).fold {
      val schema = fetch
      put(key, Known(schema, ledgerId))
      schema
    }(_.schema)
  }

  private[pulsar] def size: Int = synchronized(entries.size)

  private def get(key: Key): Option[Known] = synchronized(Option(entries.get(key)))

  private def put(key: Key, known: Known): Unit = synchronized {
    val before = Option(entries.get(key))
    if (before.forall(_.throughLedger <= known.throughLedger)) {
      entries.put(key, known)
      chars += known.chars - before.fold(0L)(_.chars)
      while (chars > mostChars && entries.size > 1) chars -= entries.remove(entries.keySet.iterator.next()).chars
    }
  }
}

private[pulsarspark] object KnownSchemas {

  val ofThisJvm = new KnownSchemas(mostChars = 16L << 20)

  private final case class Key(client: ClientOptions, topic: String, version: ByteBuffer)

  private final case class Known(schema: TopicSchema, throughLedger: Long) {
    def chars: Long = schema.definition.length.toLong + Overhead
  }

  /** Approximate bytes of a cache entry besides its definition. */
  private val Overhead = 500L
}
