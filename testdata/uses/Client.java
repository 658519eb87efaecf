package com.acme.billing;

import com.acme.user.v1.Address; // uses: Address
import com.acme.user.v1.GetUserRequest; // uses: GetUserRequest
import com.acme.user.v1.Kind; // uses: Kind
import com.acme.user.v1.User; // uses: User
import com.acme.user.v1.UsersGrpc; // uses: Users
import java.util.List;

final class Client {
  private final UsersGrpc.UsersBlockingStub stub; // uses: Users
  private String name;

  Client(UsersGrpc.UsersBlockingStub stub) { // uses: Users
    this.stub = stub;
    this.name = "getMail()";
  }

  User load(String name) { // uses: User
    GetUserRequest request = GetUserRequest.newBuilder().setName(name).build(); // uses: GetUserRequest, GetUserRequest.name
    User user = stub.getUser(request); // uses: User, Users.GetUser
    System.out.println(user.getBoss().getMail()); // uses: User.boss, User.mail
    return user;
  }

  static User build() { // uses: User
    User.Builder builder = User.newBuilder(); // uses: User
    builder.setName("a").setKind(Kind.KIND_ADMIN); // uses: User.name, User.kind, Kind, KIND_ADMIN
    builder.addAddresses(Address.newBuilder().setStreet("b")); // uses: User.addresses, Address, Address.street
    builder.setDetails(User.Details.newBuilder().setText("c").build()); // uses: User.details, User.Details, User.Details.text
    return builder.build();
  }

  void walk(List<User> users) { // uses: User
    for (User user : users) { // uses: User
      for (Address address : user.getAddressesList()) { // uses: Address, User.addresses
        System.out.println(address.getStreet() + address.getName()); // uses: Address.street, Address.name
      }
      switch (user.getKind()) { // uses: User.kind
        case KIND_ADMIN: // uses: KIND_ADMIN
          System.out.println(user.getNick()); // uses: User.nick
          break;
        default:
          break;
      }
    }
    System.out.println(build().getPhone()); // uses: User.phone
    System.out.println(User.MAIL_FIELD_NUMBER); // uses: User, User.mail
    System.out.println(name + this.name);
  }
}
