package io.github.pulsarspark.format

import munit.FunSuite
import org.apache.pulsar.common.api.proto.MessageMetadata

class EntryIndexSuite extends FunSuite {

  private def indexOf(messages: Int, index: Option[Long], metadata: MessageMetadata => Unit = _ => ()) = {
    val batch = Seq.tabulate(math.max(1, messages))(n => Sent.text(s"message $n"))
    val entry = StoredEntry(batch, batched = messages > 0, brokerIndex = index, metadata = metadata).bytes
    try EntryIndex.of(entry)
    finally { entry.release(); () }
  }

  test("a broker's index is that of the last message of the entry") {
    assertEquals(indexOf(7, Some(41)), Some(EntryIndex(41, 7)))
    assertEquals(indexOf(0, Some(0)), Some(EntryIndex(0, 1)))
    assertEquals(EntryIndex(41, 7).before, 34L)
  }

  test("without an index nothing is known") {
    assertEquals(indexOf(7, None), None)
    val damaged = StoredEntry(Seq(Sent.text("x")), batched = true, brokerIndex = Some(3)).bytes
    damaged.setByte(damaged.writerIndex - 1, 99)
    assertEquals(EntryIndex.of(damaged), None, "its checksum is wrong")
    damaged.release()
  }

  test("an entry of which a reader may return fewer messages has no usable index") {
    assertEquals(indexOf(7, Some(41), _.setTxnidMostBits(1).setTxnidLeastBits(2)), None)
    assertEquals(indexOf(0, Some(41), _.setMarkerType(22)), None)
    assertEquals(indexOf(0, Some(41), _.setUuid("u").setNumChunksFromMsg(3).setChunkId(1).setTotalChunkMsgSize(9)),
      None)
  }
}
