package io.github.pulsarspark.position

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.pulsar.client.api.MessageId
import org.apache.pulsar.client.impl.{BatchMessageIdImpl, MessageIdImpl}

import io.github.pulsarspark.UnitSuite

/** The client that wrote such ids is the oracle. */
final class LegacyMessageIdSuite extends UnitSuite {

  private def parsed(bytes: Array[Byte]): Option[LegacyMessageId] =
    LegacyMessageId.parse(new ObjectMapper().readTree(bytes.mkString("[", ",", "]")))

  test("bytes of ids of the client, their positions") {
    assertEquals(parsed(MessageId.earliest.toByteArray), Some(LegacyMessageId.Earliest))
    assertEquals(parsed(MessageId.latest.toByteArray), Some(LegacyMessageId.Latest))
    assertEquals(parsed(new MessageIdImpl(12, 34, -1).toByteArray), Some(LegacyMessageId.At(Position(12, 34))))
    assertEquals(parsed(new BatchMessageIdImpl(1L << 40, 300, 2, 7).toByteArray),
      Some(LegacyMessageId.At(Position(1L << 40, 300, 7))))
  }

  test("an id with an unknown field, its position all the same") {
    assertEquals(parsed(Array[Byte](58, 2, 8, 1, 8, 5, 16, 6)), Some(LegacyMessageId.At(Position(5, 6))))
  }

  test("bytes of something else, no id") {
    val id = new BatchMessageIdImpl(12, 34, -1, 7).toByteArray
    assertEquals(parsed(Array.emptyByteArray), None)
    assertEquals(parsed(Array[Byte](8, 5)), None)                  // no entry
    assertEquals(parsed(Array[Byte](8, 5, 16, -1)), None)          // cut off inside a number
    assertEquals(parsed(Array[Byte](8, 5, 16, 6, 58, 9, 1)), None) // cut off inside bytes
    assertEquals(parsed(Array[Byte](9, 5, 16, 6) ++ id), None)     // a wire type ids do not have
  }
}
