package io.github.pulsarspark.pulsar.transactions

import scala.collection.mutable

import com.fasterxml.jackson.databind.node.JsonNodeFactory
import munit.FunSuite

import io.github.pulsarspark.position.{OffsetRange, Position}

class TransactionUseSuite extends FunSuite {

  private final class Setup(states: String*) {
    private val answers = states.iterator
    val requests        = mutable.Buffer.empty[String]
    val use             = new TransactionUse(partition => {
      requests += partition
      answers.next() match {
        case state if state.startsWith("!") => throw new IllegalStateException("refused", new Exception(state))
        case state                          => JsonNodeFactory.instance.objectNode.put("state", state)
      }
    })

    def unused(ledgerId: Long): Boolean = use.isUnused(OffsetRange("t", Position(1, -1), Position(ledgerId, 5)))
  }

  test("without a snapshot there was no transaction up to the newest ledger of that time") {
    val setup = new Setup("NoSnapshot", "NoSnapshot", "Ready")
    assertEquals(Seq(7L, 7L, 5L).map(setup.unused), Seq(true, true, true))
    assertEquals(setup.requests.size, 1)
    assertEquals(Seq(8L, 9L, 7L, 10L).map(setup.unused), Seq(true, false, false, false), "a snapshot stays")
    assertEquals(setup.requests.size, 3)
  }

  test("a buffer that is not complete yet is asked again") {
    val setup = new Setup("Initializing", "NoSnapshot", "Ready")
    assertEquals(Seq(7L, 7L).map(setup.unused), Seq(false, true))
    setup.use.retain(_ != "t")
    assert(!setup.unused(7), "so is a partition that was gone")
  }

  test("a cluster without transactions has none") {
    val setup = new Setup("!This Broker is not configured with transactionCoordinatorEnabled=true.")
    assertEquals(Seq(7L, 70L).map(setup.unused), Seq(true, true))
  }

  test("without an answer nothing is known, and nobody is asked again for the same ledger") {
    val setup = new Setup("!timeout", "NoSnapshot")
    assertEquals(Seq(7L, 7L, 8L).map(setup.unused), Seq(false, false, true))
  }
}
