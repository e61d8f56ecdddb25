package org.apache.pulsar.client.impl

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

class WithheldPermitsSuite extends PropertySuite {
  import WithheldPermitsSuite._

  private val use: Gen[Use] = Gen.frequency(
    4 -> Gen.choose(1, 3000).map(Repeated(_)),
    4 -> Gen.zip(Gen.choose(1, 3000), Gen.choose(0, 6 << 20)).map { case (messages, bytes) =>
      Remembered(messages, bytes)
    },
    2 -> Gen.const(All),
    2 -> Gen.const(More),
    1 -> Gen.const(Restart)
  )

  property("the broker may send what it was granted first, and the few that were let in to find the last entry") {
    forAll(Gen.listOf(use)) { uses =>
      val permits = new WithheldPermits
      var allowed = First.toLong // messages that the broker may still send
      var largest = 1
      uses.foreach {
        case Repeated(messages) =>
          allowed -= messages
          permits.add(messages)
        case Remembered(messages, bytes) =>
          allowed -= messages
          largest = math.max(largest, bytes / messages)
          permits.add(messages, bytes)
        case All =>
          val taken = permits.takeAll()
          assert(taken >= 0, taken)
          allowed += taken
          assert(allowed >= First, allowed)
          assertEquals(permits.takeAll(), 0)
        case More =>
          val before = allowed
          allowed += permits.takeMore()
          val more = math.max(1, math.min(1000, (1 << 20) / largest))
          assertEquals(allowed, math.max(before, First.toLong + more))
        case Restart =>
          permits.restart()
          allowed = First.toLong
          assertEquals(permits.takeAll(), 0)
      }
    }
  }
}

private object WithheldPermitsSuite {

  /** Permits of a subscription. */
  private val First = 100

  private sealed trait Use
  private final case class Repeated(messages: Int)               extends Use
  private final case class Remembered(messages: Int, bytes: Int) extends Use
  private case object All                                        extends Use
  private case object More                                       extends Use
  private case object Restart                                    extends Use
}
