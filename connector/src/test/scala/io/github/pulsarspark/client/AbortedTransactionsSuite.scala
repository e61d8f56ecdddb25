package io.github.pulsarspark.client

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import munit.FunSuite
import org.apache.pulsar.common.naming.TopicName

import io.github.pulsarspark.log._

class AbortedTransactionsSuite extends FunSuite {

  private val json = new ObjectMapper

  /** A broker of 4.0 with some aborted transactions; says each time what it is asked. */
  private class Broker(aborted: Set[(Long, Long)]) extends TransactionBuffer {
    var asked: List[String] = Nil
    var state               = "Ready"
    var recoverStarts       = List(1700000000000L) // the last one stays
    var count: Option[Int]  = Some(aborted.size)

    override def stats(): JsonNode = {
      asked ::= "stats"
      val start = recoverStarts.head
      if (recoverStarts.size > 1) recoverStarts = recoverStarts.tail
      val total = count.fold("")(n => s""""totalAbortedTransactions":$n,""")
      json.readTree(
        s"""{"state":"$state","maxReadPosition":"15:3","lastSnapshotTimestamps":1700000000100,"ongoingTxnSize":1,"recoverStartTime":$start,
           |"recoverEndTime":1700000000050,$total"snapshotType":"Single"}""".stripMargin
      )
    }

    override def transaction(most: Long, least: Long): JsonNode = {
      asked ::= s"$most/$least"
      json.readTree(s"""{"startPosition":"15:4","aborted":${aborted((most, least))}}""")
    }
  }

  test("where nothing was aborted, one question is enough") {
    val broker = new Broker(Set.empty)
    val view   = new AbortedTransactions(broker)
    assert(!(1L to 50L).exists(view.isAborted(0, _)))
    assertEquals(broker.asked, List("stats"))
  }

  test("each transaction is asked for once") {
    val broker = new Broker(Set((0L, 2L), (1L, 3L)))
    val view   = new AbortedTransactions(broker)
    for (_ <- 1 to 3)
      assertEquals(Seq((0L, 1L), (0L, 2L), (0L, 3L), (1L, 3L)).map { case (m, l) => view.isAborted(m, l) }, Seq(false, true, false, true))
    assertEquals(broker.asked.reverse, List("stats", "0/1", "stats", "0/2", "0/3", "stats", "1/3"))
  }

  test("a broker that does not count aborted transactions is asked for each") {
    val broker = new Broker(Set((0L, 2L)))
    broker.count = None
    val view = new AbortedTransactions(broker)
    assert(view.isAborted(0, 2) && !view.isAborted(0, 1))
  }

  test("an answer from before the topic moved is asked for again") {
    val broker = new Broker(Set((0L, 2L)))
    broker.recoverStarts = List(1, 2)
    assert(!new AbortedTransactions(broker).isAborted(0, 1))
    assertEquals(broker.asked.reverse, List("stats", "0/1", "stats", "0/1", "stats"))
    broker.recoverStarts = (1L to 9L).toList
    intercept[UndecidedTransaction](new AbortedTransactions(broker).isAborted(0, 1))
  }

  test("what the broker does not know is not guessed") {
    for (state <- Seq("Initializing", "NoSnapshot", "None", "")) {
      val broker = new Broker(Set((0L, 2L)))
      broker.state = state
      val error = intercept[UndecidedTransaction](new AbortedTransactions(broker).isAborted(0, 2))
      assert(error.getMessage.contains(state), error.getMessage)
    }
    val silent = new TransactionBuffer {
      override def stats(): JsonNode                              = json.readTree("""{"state":"Ready"}""")
      override def transaction(most: Long, least: Long): JsonNode = json.readTree("{}")
    }
    intercept[UndecidedTransaction](new AbortedTransactions(silent).isAborted(0, 2))
  }

  test("entries of aborted transactions are no messages, at any level; others are") {
    def entry(most: Option[Long], least: Option[Long]) = StoredEntry(
      Seq.fill(3)(Sent.text("v")),
      batched = true,
      metadata = m => { most.foreach(v => m.setTxnidMostBits(v)); least.foreach(v => m.setTxnidLeastBits(v)) }
    ).bytes
    val big                           = Long.MinValue + 5 // ids are unsigned in the protocol
    val transactions: TransactionView = (most, least) => most == 7 && least == big
    for (level <- Seq(DecodeLevel.Entry, DecodeLevel.Message)) {
      val decoder = new EntryDecoder("t", level, transactions = transactions)
      assertEquals(Received.byDecoder(decoder, entry(Some(7), Some(big))).size, 0)
      for ((most, least) <- Seq((Some(7L), Some(8L)), (Some(big), Some(big)), (None, None), (Some(7L), None), (None, Some(big))))
        assertEquals(Received.byDecoder(decoder, entry(most, least)).size, 3)
    }
  }

  test("topics in paths are encoded as the admin service wants them") {
    assertEquals(TopicName.get("persistent://a/b/c d-partition-3").getRestPath.stripPrefix("persistent/"), "a/b/c+d-partition-3")
  }
}
