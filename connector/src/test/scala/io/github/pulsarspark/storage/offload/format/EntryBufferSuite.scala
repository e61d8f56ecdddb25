package io.github.pulsarspark.storage.offload.format

import io.github.pulsarspark.UnitSuite

class EntryBufferSuite extends UnitSuite {

  private def fill(buffer: EntryBuffer, first: Long, count: Int): Unit = {
    buffer.clear()
    buffer.reserve(2 * count)
    (0 until 2 * count).foreach(i => buffer.bytes(i) = (i / 2).toByte)
    (0 until count).foreach(i => buffer.add(first + i, 2 * i, 2))
  }

  private def bytes(buffer: EntryBuffer, index: Int): Seq[Byte] = {
    val entry = buffer.entry(index)
    val copy  = new Array[Byte](entry.readableBytes)
    entry.getBytes(entry.readerIndex, copy)
    copy.toSeq
  }

  test("more entries than there was room for at first, each with its bytes") {
    val buffer = new EntryBuffer
    fill(buffer, 7, 3000)
    assertEquals((buffer.firstEntryId, buffer.lastEntryId, buffer.count), (7L, 3006L, 3000))
    assertEquals(Seq(0, 1023, 1024, 2999).map(bytes(buffer, _)),
      Seq(0, 1023, 1024, 2999).map(i => Seq(i.toByte, i.toByte)))
  }

  test("a buffer that is used again has the new entries alone, also in a larger array") {
    val buffer = new EntryBuffer
    fill(buffer, 7, 3)
    assertEquals(bytes(buffer, 2), Seq[Byte](2, 2))
    fill(buffer, 20, 5)
    assertEquals((buffer.firstEntryId, buffer.lastEntryId, bytes(buffer, 4)), (20L, 24L, Seq[Byte](4, 4)))
  }

  test("an array that grows keeps its content, and never shrinks") {
    val buffer = new EntryBuffer
    fill(buffer, 0, 2)
    buffer.reserve(100)
    buffer.reserve(1)
    assertEquals((buffer.bytes.length, bytes(buffer, 1)), (100, Seq[Byte](1, 1)))
  }
}
