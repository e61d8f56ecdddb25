package io.github.pulsarspark.format

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.common.api.proto.{CompressionType, MarkerType, MessageMetadata}
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

/** Looks at entries before they are decoded: [[TransactionFilter]] drops those of aborted transactions, and
  * [[EntrySummary]] has what estimates need.
  */
class EntryFiltersSuite extends PropertySuite {

  private val aborted = (3L, 9L)
  private val unknown = (5L, 5L)
  private var asked   = Seq.empty[(Long, Long)]

  private val filter = new TransactionFilter((most, least) => {
    asked :+= ((most, least))
    if ((most, least) == unknown) throw new UndecidedTransaction("unknown")
    (most, least) == aborted
  })

  private def entry(metadata: MessageMetadata => Any): ByteBuf =
    StoredEntry(Seq(Sent.text("x")), batched = true, metadata = m => { metadata(m); () }).bytes

  private def of(txn: (Long, Long))(m: MessageMetadata) = m.setTxnidMostBits(txn._1).setTxnidLeastBits(txn._2)

  test("an entry is dropped if its transaction was aborted, and stays if that was committed or there is none") {
    assert(filter.isAborted(entry(of(aborted))))
    assert(!filter.isAborted(entry(of((3L, 8L)))))
    assert(!filter.isAborted(entry(of((9L, 3L)))))
    asked = Nil
    assert(!filter.isAborted(entry(identity)))
    assertEquals(asked, Nil, "nothing is looked up for an entry without a transaction")
  }

  test("a marker stays, whatever transaction it ends; nothing is looked up") {
    asked = Nil
    assert(!filter.isAborted(entry(m => of(aborted)(m).setMarkerType(MarkerType.TXN_ABORT.getValue))))
    assertEquals(asked, Nil)
  }

  test("an entry whose transaction nobody knows is an error; a damaged one is left to its decoder") {
    intercept[UndecidedTransaction](filter.isAborted(entry(of(unknown))))
    assert(!filter.isAborted(Unpooled.wrappedBuffer(Array[Byte](1, 2, 3))))
  }

  property("the filter sees one entry after the other, each by itself") {
    forAll(Gen.listOf(Gen.oneOf(Some(aborted), Some((3L, 8L)), None))) { transactions =>
      assertEquals(transactions.map(t => filter.isAborted(entry(m => t.foreach(of(_)(m))))),
        transactions.map(_.contains(aborted)))
    }
  }

  property("a summary has the publish time and the number of messages, in a batch or not, however compressed") {
    val entries = Gen.zip(Gen.choose(0, 9), SentGenerators.compression, Gen.choose(0L, 4000000000000L))
    forAll(entries.flatMap { case (n, c, t) => SentGenerators.entry(n, c).map(e => (n, e, t)) }) {
      case (messages, stored, time) =>
        val described = stored.copy(metadata = m => { stored.metadata(m); m.setPublishTime(time); () })
        assertEquals(EntrySummary.of(described.bytes), Some(EntrySummary(time, math.max(1, messages))))
    }
  }

  test("no summary of a marker, nor of a damaged entry") {
    assertEquals(EntrySummary.of(entry(_.setMarkerType(MarkerType.TXN_COMMIT.getValue))), None)
    assertEquals(EntrySummary.of(Unpooled.wrappedBuffer(Array[Byte](1, 2, 3))), None)
    val whole = StoredEntry(Seq(Sent.text("x")), batched = true, CompressionType.NONE).array
    assertEquals(EntrySummary.of(Unpooled.wrappedBuffer(whole.take(9))), None)
  }
}
