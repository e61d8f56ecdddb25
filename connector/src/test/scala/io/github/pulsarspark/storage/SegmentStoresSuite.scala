package io.github.pulsarspark.storage

import scala.collection.mutable

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.storage.segment.{Segment, SegmentLocation, SegmentUnreadable, StoredLedger}

class SegmentStoresSuite extends UnitSuite {

  private val trace  = mutable.Buffer.empty[String]
  private val cold   = new FakeStore("cold", trace, _ < 20)
  private val hot    = new FakeStore("hot", trace, _ < 30)
  private val stores = new SegmentStores(Seq(cold, hot))

  override def beforeEach(context: BeforeEach): Unit = trace.clear()

  private def ledger(id: Long, entries: Long = 5) = StoredLedger(id, entries, 100, isOffloaded = false, None)

  private def segment(store: String) = Segment(1, 0, 9, 100, FakeStore.Place(store))

  private object Nowhere extends SegmentLocation {
    override def level: Tier                     = Tier.Tiered
    override def hosts(entry: Long): Seq[String] = Nil
  }

  test("each ledger is located by the first store that holds it, which is called once for all partitions") {
    val locate = stores.locate(
      Map("a" -> Seq(ledger(10), ledger(20), ledger(30)), "b" -> Seq(ledger(11), ledger(12, entries = 0))),
      null // of no use here
    )
    assertEquals(trace.toSeq.sorted, Seq("cold locates 10,11,12", "hot locates 20"))
    assertEquals(locate("a")(ledger(10)), Right(FakeStore.Place("cold")))
    assertEquals(locate("a")(ledger(20)), Right(FakeStore.Place("hot")))
    assertEquals(locate("b")(ledger(12, entries = 0)), Left("ledger 12 is empty"))
    assertEquals(locate("a")(ledger(30)), Left("no storage is known that has ledger 30"))
  }

  test("a store without ledgers of the topic, no call") {
    stores.locate(Map("a" -> Seq(ledger(20))), null)
    assertEquals(trace.toSeq, Seq("hot locates 20"))
  }

  test("segments go to the store of their location") {
    hot.obstacle = Some("no connection")
    assertEquals(stores.obstacle(1, FakeStore.Place("hot")), Some("no connection"))
    assertEquals(stores.obstacle(1, FakeStore.Place("cold")), None)
    stores.open(segment("hot")).close()
    stores.failed(segment("cold"), new SegmentUnreadable("slow", null, Seq("s3a://bucket")))
    assertEquals(trace.toSeq, Seq("hot 0-9", "cold failed s3a://bucket"))
    intercept[IllegalArgumentException](stores.obstacle(1, Nowhere))
  }

  test("split points are requested of the stores that have segments") {
    cold.points = Seq(0L, 4L)
    assertEquals(stores.splitPoints(Seq(segment("cold"))), Map(0L -> Seq(0L, 4L)))
    assertEquals(stores.splitPoints(Nil), Map.empty[Long, Seq[Long]])
    assertEquals(trace.toSeq, Seq("cold splits 1"))
  }

  test("all stores are checked and closed") {
    stores.check()
    stores.close()
    assertEquals(trace.toSeq.sorted, Seq("cold checks", "cold closes", "hot checks", "hot closes"))
  }
}
