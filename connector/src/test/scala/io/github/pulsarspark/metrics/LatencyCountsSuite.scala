package io.github.pulsarspark.metrics

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite

/** Latencies in buckets. */
class LatencyCountsSuite extends PropertySuite {

  private val millis = Gen.oneOf(Gen.choose(0L, 40L), Gen.choose(0L, 100000L), Gen.choose(0L, Long.MaxValue))

  property("the longest time of a bucket: at least the time, and at most an eighth above it") {
    forAll(millis) { time =>
      val longest = LatencyCounts.longest(LatencyCounts.bucket(time))
      assert(longest >= time, s"$time is in a bucket up to $longest")
      assert(longest - time <= time / 8, s"$time is in a bucket up to $longest")
    }
  }

  property("a longer time: the same bucket or a later one") {
    forAll(millis, millis) { (one, other) =>
      if (one <= other) assert(LatencyCounts.bucket(one) <= LatencyCounts.bucket(other))
    }
  }

  test("percentiles: those of the counted times, a clock that is ahead counts as 0") {
    val counts = new LatencyCounts
    (Seq.fill(98)(2L) ++ Seq(-500L, 9L)).foreach(counts.add)
    def at(part: Double) = LatencyCounts.percentile(counts.counted, part)
    assertEquals(Seq(0.0, 0.5, 0.99, 1.0).map(at), Seq(Some(0L), Some(2L), Some(2L), Some(9L)))
    assertEquals(LatencyCounts.percentile(Map.empty, 0.5), None)
  }

  test("the total of several tasks: the sum of each bucket") {
    val total = new LatencyCounts.Total
    total.add(Map(1 -> 2L, 5 -> 1L))
    total.add(Map(5 -> 4L))
    assertEquals(total.value, Map(1 -> 2L, 5 -> 5L))
  }
}
