package io.github.pulsarspark

import scala.concurrent.duration._

import munit.FunSuite

/** Tests that may take as long as a busy machine makes them: MUnit's own 30 s are too short there for what takes two.
  */
abstract class UnitSuite extends FunSuite {
  override def munitTimeout: Duration = UnitSuite.Patience
}

object UnitSuite {

  /** The time after which a test counts as one that hangs. */
  val Patience: FiniteDuration = 10.minutes
}
