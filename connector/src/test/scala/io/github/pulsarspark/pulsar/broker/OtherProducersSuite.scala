package io.github.pulsarspark.pulsar.broker

import scala.util.Using

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Search for messages of others, by [[OtherProducers]]: a table that was created in vain is deleted only without them.
  */
class OtherProducersSuite extends WriteSuite {

  /** Writes messages by producers of these names. */
  private def write(name: String, producers: String*): Unit = producers.foreach { producer =>
    Using.resource(PulsarConnection(client())) { connection =>
      val settings = options("topic" -> name, "pulsar.producer.producerName" -> producer)
      Using.resource(connection.producer(topic(name), TopicSchema.Bytes, settings)) { p =>
        val message = new OutgoingMessage
        message.value = producer.getBytes
        p.send(message)
        p.flush()
      }
    }
  }

  private def hasOthers(names: String*): Boolean =
    Using.resource(PulsarConnection(client()))(_.mayHaveOthers(names.map(topic), "mine-"))

  test("no messages, or those of the own producers alone: nobody else has written") {
    Seq("empty", "own").foreach(store)
    write("own", "mine-1", "mine-2", "mine-1")
    assert(!hasOthers("empty", "own"))
  }

  test("one message of somebody else, wherever it is: others have written") {
    Seq("first", "last", "second").foreach(store)
    write("first", "other", "mine-1")
    write("last", "mine-1", "mine-1", "other")
    write("second", "not-mine-1")
    assert(hasOthers("first"))
    assert(hasOthers("last"))
    store("none")
    assert(hasOthers("none", "second"), "in the second partition")
  }
}
