package io.github.pulsarspark.checkpoint

import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite

class TemporariesSuite extends UnitSuite {

  test("drafts that nobody renames: dropped after an hour, younger ones kept") {
    val clock  = new AtomicLong
    val drafts = new Temporaries(() => clock.get)
    drafts.put(Seq("a", ".left"), Array(1))
    clock.set(30.minutes.toNanos)
    drafts.put(Seq("a", ".young"), Array(2))
    assertEquals(drafts.in(Seq("a")).map(_._1).sorted, Seq(".left", ".young"))
    clock.set(61.minutes.toNanos)
    drafts.put(Seq("a", ".new"), Array(3))
    assertEquals(drafts.in(Seq("a")).map(_._1).sorted, Seq(".new", ".young"))
  }
}
