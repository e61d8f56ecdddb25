package io.github.pulsarspark.pulsar.broker

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite

class RenewalsSuite extends UnitSuite {

  test("a partition is due at once, then after waits that double up to a minute") {
    var now      = 0L
    val renewals = new Renewals(() => now)
    val dueAt    = (0 to 200).filter { second =>
      now = second.seconds.toNanos
      renewals.due(Set("p")) == Set("p")
    }
    assertEquals(dueAt, Seq(0, 2, 6, 14, 30, 62, 122, 182))
  }

  test("a partition that was not behind meanwhile is due at once") {
    val renewals = new Renewals(() => 0L)
    assertEquals(renewals.due(Set("p", "q")), Set("p", "q"))
    assertEquals(renewals.due(Set("q")), Set.empty[String])
    assertEquals(renewals.due(Set("p", "q")), Set("p"))
  }
}
