package io.github.pulsarspark.read.stream.limits

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite

class AdmissionSuite extends PropertySuite {

  private val needs: Gen[Map[String, Long]] =
    Gen.mapOf(Gen.zip(Gen.choose(1, 20).map(n => f"p$n%02d"), Gen.oneOf(Gen.choose(0L, 30L), Gen.const(Long.MaxValue))))
  private val budget = Gen.oneOf(Gen.choose(1L, 100L), Gen.const(Long.MaxValue))
  private val last   = Gen.oneOf("", "p05", "p20")

  private def sum(numbers: Iterable[Long]) = numbers.map(BigInt(_)).sum

  property("shares never exceed the budget or a need, and use up one of the two") {
    forAll(needs, budget, last) { (needs, budget, last) =>
      val shares = Admission.share(needs, budget, last)
      shares.foreach { case (p, share) => assert(share > 0 && share <= needs(p), s"$p: $share of ${needs(p)}") }
      assertEquals(sum(shares.values), sum(needs.values).min(BigInt(budget)))
      true
    }
  }

  property("who gets less than it needs gets no less than anybody else, but for one of a rest") {
    forAll(needs, budget, last) { (needs, budget, last) =>
      val shares = Admission.share(needs, budget, last).withDefaultValue(0L)
      needs.filter { case (p, need) => shares(p) < need }.keys.foreach(p =>
        shares.foreach { case (other, share) => assert(share <= shares(p) + 1, s"$other $share, $p ${shares(p)}") }
      )
      true
    }
  }

  property("everybody with a need is served within as many triggers as the turn takes") {
    forAll(needs.map(_.filter(_._2 > 0)), Gen.choose(1L, 7L)) { (needs, budget) =>
      var last   = ""
      val served = (1 to ((needs.size + budget - 1) / budget).toInt).flatMap { _ =>
        val shares = Admission.share(needs.map { case (p, _) => p -> Long.MaxValue }, budget, last)
        last = Admission.inTurn(shares.keys, last).lastOption.getOrElse(last)
        shares.keys
      }
      assertEquals(served.toSet, needs.keySet)
      true
    }
  }

  test("what small needs leave goes to the large ones; a rest goes to the next in turn") {
    assertEquals(Admission.share(Map("a" -> 2, "b" -> 50, "c" -> 60), 23, ""), Map("a" -> 2L, "b" -> 11L, "c" -> 10L))
    assertEquals(Admission.share(Map("a" -> 9, "b" -> 9, "c" -> 9), 2, "a"), Map("b" -> 1L, "c" -> 1L))
    assertEquals(Admission.share(Map("a" -> 9, "b" -> 9, "c" -> 9), 2, "c"), Map("a" -> 1L, "b" -> 1L))
  }
}
