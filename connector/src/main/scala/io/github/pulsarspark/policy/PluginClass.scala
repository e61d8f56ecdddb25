package io.github.pulsarspark.policy

import scala.util.Try

import io.github.pulsarspark.common.ShadedClassNames
import io.github.pulsarspark.errors.Conditions

/** The one way to a class that an option names. None of its code runs before its type is known, and with a policy it is
  * not even loaded before the policy lists it.
  */
private[pulsarspark] object PluginClass {

  /** Fails unless this machine has the class, and it is a `kind` with a constructor without arguments. */
  def apply[A](option: String, name: String, kind: Class[A]): Class[_ <: A] = {
    Policy.now().foreach(check(_, option, name))
    loaded(ShadedClassNames(name))
      .filter(found => kind.isAssignableFrom(found) && Try(found.getDeclaredConstructor()).isSuccess)
      .getOrElse(throw refused(option, name, kind).exception)
      .asSubclass(kind)
  }

  def create[A](option: String, name: String, kind: Class[A]): A = {
    val found = apply(option, name, kind)
    try found.getDeclaredConstructor().newInstance()
    catch { case e: ReflectiveOperationException => throw refused(option, name, kind).causedBy(e) }
  }

  /** Fails unless the policy lists the class, by its name here or at its origin. */
  private[policy] def check(policy: Policy, option: String, name: String): Unit =
    if (!policy.classes.map(ShadedClassNames(_)).contains(ShadedClassNames(name)))
      throw Refused(option, s"the class $name", PolicyKeys.Classes)

  private def loaded(name: String): Option[Class[_]] =
    loaded(name, getClass.getClassLoader).orElse(loaded(name, Thread.currentThread.getContextClassLoader))

  private def loaded(name: String, from: ClassLoader): Option[Class[_]] =
    try Some(Class.forName(name, false, from))
    catch { case _: ClassNotFoundException | _: LinkageError => None }

  private def refused(option: String, name: String, kind: Class[_]) = Conditions.OptionInvalid(
    option = option,
    value = name,
    allowed = s"a class on every machine that implements ${kind.getName} and has a constructor without arguments"
  )
}
