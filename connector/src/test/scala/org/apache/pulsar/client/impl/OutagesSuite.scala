package org.apache.pulsar.client.impl

import io.github.pulsarspark.UnitSuite

/** Outages of a consumer, on a clock of seconds. */
class OutagesSuite extends UnitSuite {

  private var seconds = 0L
  private val outages = new Outages(() => seconds * 1000000000L)

  private def after(more: Long)(happens: => Unit): Unit = {
    seconds += more
    happens
  }

  test("the longest outage counts, also one that goes on") {
    assertEquals(outages.longestMillis, 0L)
    after(100)(outages.begin())
    after(30)(assertEquals(outages.longestMillis, 30000L))
    after(10)(outages.end())
    after(100)(assertEquals(outages.longestMillis, 40000L))
    after(0)(outages.begin())
    after(20)(outages.end())
    assertEquals(outages.longestMillis, 40000L)
  }

  test("connections that are lost before a broker knows the consumer are within one outage") {
    outages.begin()
    after(30)(outages.begin())
    after(30)(outages.end())
    assertEquals(outages.longestMillis, 60000L)
  }

  test("outages that are over are forgotten, one that goes on is not") {
    outages.begin()
    after(50)(outages.end())
    outages.forget()
    assertEquals(outages.longestMillis, 0L)
    outages.begin()
    after(50)(outages.forget())
    assertEquals(outages.longestMillis, 50000L)
  }
}
