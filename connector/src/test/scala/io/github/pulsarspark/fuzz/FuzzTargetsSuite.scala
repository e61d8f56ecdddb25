package io.github.pulsarspark.fuzz

import scala.util.Random

import io.github.pulsarspark.UnitSuite

/** A glance at each decoder, which `make fuzz` looks at for minutes: its seeds, and a few changes of each. */
class FuzzTargetsSuite extends UnitSuite {
  private val changes = 24

  for (target <- FuzzTargets.all) test(s"${target.name}: seeds are read, changed ones are read or refused by name") {
    val random = new Random(target.name.hashCode.toLong)
    target.seeds.foreach(seed =>
      assert(FuzzRule.outcome(target, seed).isRight, s"${FuzzRule.outcome(target, seed)}: ${new String(seed)}")
    )
    val kept = random.shuffle(target.seeds).take(8)
    for (seed <- kept; _ <- 1 to changes / kept.size) FuzzRule.check(target, changed(seed, random))
  }

  /** Replaces some bytes, or takes some away. */
  private def changed(seed: Array[Byte], random: Random): Array[Byte] = {
    val bytes = seed.clone()
    if (bytes.nonEmpty) (0 to random.nextInt(3)).foreach(_ =>
      bytes(random.nextInt(bytes.length)) = random.nextInt().toByte
    )
    if (random.nextInt(4) == 0) bytes.take(random.nextInt(bytes.length + 1)) else bytes
  }

  private class Fake(decoded: Array[Byte] => Any, limit: Long = 1000) extends FuzzTarget {
    override def seeds: Seq[Array[Byte]]         = Nil
    override def allowance: Long                 = limit
    override def refusals: Set[Class[_]]         = Set(classOf[IllegalStateException])
    override def decode(bytes: Array[Byte]): Any = decoded(bytes)
  }

  private def broken(text: String)(decoded: Array[Byte] => Any): Unit = test(s"the rule finds: $text") {
    val error = intercept[AssertionError](FuzzRule.check(new Fake(decoded), Array[Byte](1), maxSeconds = 0.02))
    assert(error.getMessage.contains(text), error.getMessage)
  }

  broken("an exception without a name")(bytes => bytes(7))
  broken("made it allocate")(_ => new Array[Byte](1 << 20).length)
  broken("of a processor") { _ =>
    var sum, i = 0L
    while (i < 50000000L) { sum += i % 7; i += 1 }
    sum
  }
  broken("the same bytes were first")(_ => System.nanoTime())

  test("the rule passes what allocates much now and then") {
    var calls = 0
    FuzzRule.check(new Fake(_ => { calls += 1; if (calls % 2 == 0) new Array[Byte](1 << 20).length else 1 << 20 }),
      Array[Byte](1))
  }

  test("the rule passes what returns, or refuses by a declared exception") {
    FuzzRule.check(new Fake(_.length), Array[Byte](1))
    FuzzRule.check(new Fake(_ => throw new IllegalStateException), Array[Byte](1))
  }
}
