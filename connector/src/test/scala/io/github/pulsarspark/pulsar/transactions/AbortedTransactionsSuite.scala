package io.github.pulsarspark.pulsar.transactions

import scala.concurrent.duration._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.pulsar.common.naming.TopicName

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.{DecodeDepth, EntryDecoder, Received, Sent, StoredEntry, TransactionView, UndecidedTransaction}
import io.github.pulsarspark.position.Position

class AbortedTransactionsSuite extends UnitSuite {

  private val json = new ObjectMapper

  /** A broker of 4.0 with some aborted transactions; records each request. */
  private class BrokerApi(aborted: Set[(Long, Long)]) extends TransactionBuffer {
    var requests: List[String] = Nil
    var state                  = "Ready"
    var recoverStarts          = List(1700000000000L) // the last one stays
    var maxRead                = "15:3"
    var count: Option[Int]     = Some(aborted.size)

    override def stats(): JsonNode = {
      requests ::= "stats"
      val start = recoverStarts.head
      if (recoverStarts.size > 1) recoverStarts = recoverStarts.tail
      val total = count.fold("")(n => s""""totalAbortedTransactions":$n,""")
      json.readTree(
        s"""{"state":"$state","maxReadPosition":"$maxRead","lastSnapshotTimestamps":1700000000100,"ongoingTxnSize":1,"recoverStartTime":$start,
           |"recoverEndTime":1700000000050,$total"snapshotType":"Single"}""".stripMargin
      )
    }

    override def transaction(most: Long, least: Long): JsonNode = {
      requests ::= s"$most/$least"
      json.readTree(s"""{"startPosition":"15:4","aborted":${aborted((most, least))}}""")
    }
  }

  private def view(
      broker: TransactionBuffer,
      most: Option[Int] = None,
      end: Position = Position(15, 3),
      outcomes: TransactionOutcomes = new TransactionOutcomes
  ) =
    new AbortedTransactions(broker, outcomes, end, most)

  test("one request suffices when nothing was aborted") {
    val broker = new BrokerApi(Set.empty)
    val view   = this.view(broker)
    assert(!(1L to 50L).exists(view.isAborted(0, _)))
    assertEquals(broker.requests, List("stats"))
  }

  test("several reads of a transaction, one request") {
    val broker = new BrokerApi(Set((0L, 2L), (1L, 3L)))
    val view   = this.view(broker)
    for (_ <- 1 to 3)
      assertEquals(Seq((0L, 1L), (0L, 2L), (0L, 3L), (1L, 3L)).map { case (m, l) => view.isAborted(m, l) },
        Seq(false, true, false, true))
    assertEquals(broker.requests.reverse, List("stats", "0/1", "stats", "0/2", "0/3", "stats", "1/3"))
  }

  test("each transaction is requested from a broker that does not count aborted ones") {
    val broker = new BrokerApi(Set((0L, 2L)))
    broker.count = None
    val view = this.view(broker)
    assert(view.isAborted(0, 2) && !view.isAborted(0, 1))
  }

  test("a response older than the unload is discarded and requested again") {
    val broker = new BrokerApi(Set((0L, 2L)))
    broker.recoverStarts = List(1, 2)
    assert(!view(broker).isAborted(0, 1))
    assertEquals(broker.requests.reverse, List("stats", "0/1", "stats", "0/1", "stats"))
    broker.recoverStarts = (1L to 9L).toList
    intercept[UndecidedTransaction](view(broker).isAborted(0, 1))
  }

  test("a transaction that the broker does not know stays undecided") {
    for (state <- Seq("Initializing", "NoSnapshot", "None", "")) {
      val broker = new BrokerApi(Set((0L, 2L)))
      broker.state = state
      val error = intercept[UndecidedTransaction](view(broker).isAborted(0, 2))
      assert(error.getMessage.contains(state), error.getMessage)
    }
    val silent = new TransactionBuffer {
      override def stats(): JsonNode                              = json.readTree("""{"state":"Ready"}""")
      override def transaction(most: Long, least: Long): JsonNode = json.readTree("{}")
    }
    intercept[UndecidedTransaction](view(silent).isAborted(0, 2))
  }

  test("readers of one JVM share decided transactions") {
    val broker                              = new BrokerApi(Set((0L, 2L)))
    val outcomes                            = new TransactionOutcomes
    def read(end: Position, ids: Seq[Long]) = ids.filter(view(broker, end = end, outcomes = outcomes).isAborted(0, _))
    def requests()                          = {
      val result = broker.requests.reverse
      broker.requests = Nil
      result
    }
    assertEquals(read(Position(15, 1), 1L to 3L), Seq(2L))
    assertEquals(requests(), List("stats", "0/1", "stats", "0/2", "0/3", "stats"))
    assertEquals(read(Position(15, 3), 2L to 4L), Seq(2L))
    assertEquals(requests(), List("0/4", "stats"))
    assertEquals(read(Position(15, 4), 3L to 5L), Nil)
    assertEquals(requests(), List("stats", "0/5", "stats"),
      "the state before this range was decided says nothing about it")
  }

  test("the report that nothing was aborted holds only for transactions decided by then") {
    val broker                   = new BrokerApi(Set.empty)
    val outcomes                 = new TransactionOutcomes
    def isAborted(end: Position) = view(broker, end = end, outcomes = outcomes).isAborted(0, 9)
    assert(!isAborted(Position(15, 0)) && !isAborted(Position(15, 3)))
    assertEquals(broker.requests, List("stats"))
    broker.maxRead = "15:9"
    broker.count = Some(1)
    assert(!isAborted(Position(15, 4)))
    assertEquals(broker.requests.reverse, List("stats", "stats", "0/9", "stats"))
  }

  test("after a number of requests, transactions are left to the broker for some minutes") {
    var now                       = 0L
    val broker                    = new BrokerApi(Set((0L, 2L)))
    val outcomes                  = new TransactionOutcomes(() => now)
    def reader(most: Option[Int]) = view(broker, most, outcomes = outcomes)
    (1L to 10L).foreach(reader(Some(10)).isAborted(0, _))
    val requests = broker.requests.size
    intercept[UndecidedTransaction](reader(Some(10)).isAborted(0, 11))
    assert(reader(Some(10)).isAborted(0, 2), "what is known needs no question")
    assertEquals(broker.requests.size, requests)
    assert(!(11L to 300L).exists(reader(None).isAborted(0, _)), "this one has nobody to leave them to")
    now = 5.minutes.toNanos
    assert(!reader(Some(10)).isAborted(0, 301))
  }

  test("messages of aborted transactions are skipped at every level, others are returned") {
    def entry(most: Option[Long], least: Option[Long]) = StoredEntry(
      Seq.fill(3)(Sent.text("v")),
      batched = true,
      metadata = m => { most.foreach(v => m.setTxnidMostBits(v)); least.foreach(v => m.setTxnidLeastBits(v)) }
    ).bytes
    val big                           = Long.MinValue + 5 // ids are unsigned in the protocol
    val transactions: TransactionView = (most, least) => most == 7 && least == big
    for (level <- Seq(DecodeDepth.Entry, DecodeDepth.Message)) {
      val decoder = new EntryDecoder("t", level, transactions = transactions)
      assertEquals(Received.byDecoder(decoder, entry(Some(7), Some(big))).size, 0)
      for (
        (most, least) <-
          Seq((Some(7L), Some(8L)), (Some(big), Some(big)), (None, None), (Some(7L), None), (None, Some(big)))
      )
        assertEquals(Received.byDecoder(decoder, entry(most, least)).size, 3)
    }
  }

  test("topics in paths are encoded for the admin service") {
    assertEquals(TopicName.get("persistent://a/b/c d-partition-3").getRestPath.stripPrefix("persistent/"),
      "a/b/c+d-partition-3")
  }
}
