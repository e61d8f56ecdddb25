package io.github.pulsarspark.common

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicLong}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import io.github.pulsarspark.UnitSuite

class ExclusiveCacheSuite extends UnitSuite {

  private final class Thing {
    val closed             = new AtomicInteger
    @volatile var isUsable = true
  }

  private final class Kept(most: Int = 100) {
    private val now = new AtomicLong
    val cache       = new ExclusiveCache[String, Thing](60.seconds, most, _.isUsable,
      thing => { thing.closed.incrementAndGet(); () }, () => now.get)

    def pass(time: FiniteDuration): Unit = {
      now.addAndGet(time.toNanos)
      cache.cleanUp()
    }
  }

  test("who takes a value has it alone, and only one with its key") {
    val (kept, thing) = (new Kept, new Thing)
    kept.cache.put("a", thing)
    assertEquals(kept.cache.take("b"), None)
    assertEquals(kept.cache.take("a"), Some(thing))
    assertEquals(kept.cache.take("a"), None)
    assertEquals(thing.closed.get, 0)
  }

  test("one that nobody takes is closed after its time, which begins anew with each use") {
    val (kept, thing) = (new Kept, new Thing)
    kept.cache.put("a", thing)
    kept.pass(59.seconds)
    kept.cache.put("a", kept.cache.take("a").get)
    kept.pass(59.seconds)
    assertEquals(thing.closed.get, 0)
    kept.pass(2.seconds)
    assertEquals(thing.closed.get, 1)
    assertEquals(kept.cache.take("a"), None)
  }

  test("no more are kept than may be, in all and by key") {
    val (kept, things) = (new Kept(most = 10), Seq.fill(30)(new Thing))
    things.zipWithIndex.foreach { case (thing, i) => kept.cache.put(s"topic ${i % 5}", thing) }
    kept.pass(Duration.Zero)
    assertEquals(things.map(_.closed.get), Seq.fill(10)(0) ++ Seq.fill(20)(1), "those that are kept stay")
    val (ofOne, same) = (new Kept, Seq.fill(20)(new Thing))
    same.foreach(ofOne.cache.put("a", _))
    assertEquals(same.map(_.closed.get).sum, 4)
  }

  test("who wants some values of a key takes or closes these alone") {
    val (kept, things) = (new Kept, Seq.fill(3)(new Thing))
    things.foreach(kept.cache.put("a", _))
    assertEquals(kept.cache.take("a", _ == things(1)), Some(things(1)))
    assertEquals(kept.cache.take("a", _ == things(1)), None)
    kept.cache.closeOf("a", _ != things(2))
    assertEquals(things.map(_.closed.get), Seq(1, 0, 0))
    assertEquals(kept.cache.take("a"), Some(things(2)))
  }

  test("tasks that come round in the same order find as many as may be kept") {
    val kept   = new Kept(most = 16)
    val rounds = Seq.fill(5)((1 to 40).count { i =>
      val found = kept.cache.take(s"topic $i")
      kept.cache.put(s"topic $i", found.getOrElse(new Thing))
      found.isDefined
    })
    assertEquals(rounds, Seq(0, 16, 16, 16, 16))
  }

  test("one that cannot be used any more is closed and not taken") {
    val (kept, lost, good) = (new Kept, new Thing, new Thing)
    kept.cache.put("a", lost)
    kept.cache.put("a", good)
    lost.isUsable = false
    assertEquals(kept.cache.take("a"), Some(good))
    assertEquals(lost.closed.get, 1)
  }

  test("closeAll closes the values of every matching key") {
    val (kept, things) = (new Kept, Seq.fill(4)(new Thing))
    things.zip(Seq("a", "a", "b", "c")).foreach { case (thing, key) => kept.cache.put(key, thing) }
    kept.cache.closeAll(_ != "c")
    assertEquals(things.map(_.closed.get), Seq(1, 1, 1, 0))
    assertEquals(kept.cache.take("c"), Some(things(3)))
  }

  test("many tasks at a time: each value has one user, and all are closed once in the end") {
    val kept     = new Kept
    val users    = ConcurrentHashMap.newKeySet[Thing]()
    val things   = ConcurrentHashMap.newKeySet[Thing]()
    val isShared = new AtomicBoolean
    val threads  = Seq.fill(8)(new Thread(() =>
      for (turn <- 1 to 5000) {
        val key  = s"topic ${turn % 3}"
        val mine = kept.cache.take(key).getOrElse { val thing = new Thing; things.add(thing); thing }
        if (!users.add(mine)) isShared.set(true)
        users.remove(mine)
        kept.cache.put(key, mine)
      }
    ))
    threads.foreach(_.start())
    threads.foreach(_.join(60000))
    assert(!isShared.get)
    assert(things.size <= 24, things.size)
    kept.pass(61.seconds)
    assert(things.asScala.forall(_.closed.get == 1))
  }
}
